/**
 * For `--import`: each SIGUSR2 moves the clock of this process by an hour: forward, back, behind, back again. Monotonic
 * clocks stay as they are, as when an operator or a time server sets a machine's clock.
 */
const HOUR_MS = 3_600_000;
const STEPS_MS = [0, HOUR_MS, 0, -HOUR_MS];
let steps = 0;

const Machine = Date;
const now = (): number => Machine.now() + (STEPS_MS[steps % STEPS_MS.length] ?? 0);

globalThis.Date = new Proxy(Machine, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
process.on("SIGUSR2", () => steps++);

export {};
