import { readConfig, variables } from "../config.ts";
import { startService } from "../main.ts";
import { readOptions } from "./options.ts";
import { onParentLost } from "./parent-lost.ts";

const DRAIN_MS = 1500;
const EXIT_WITHIN_MS = 9500;

const USAGE = `latchkey serve

Runs the service. Configuration comes from the environment:

${variables.map(({ name, meaning, default: value }) => `  ${name}\n      ${meaning}\n      default: ${value}`).join("\n")}`;

export async function serve(args: string[]): Promise<void> {
  if (!readOptions(USAGE, args, {})) return;
  const service = await startService(readConfig(process.env));
  stopOnSignal(() => service.stop(DRAIN_MS));
}

/** The first signal, or the loss of npm that started us, stops in good order; a second signal means now. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const begin = () => {
    if (stopping) return;
    stopping = true;
    // Whatever hangs (a database that does not answer) must not keep the process from ending.
    setTimeout(() => process.exit(1), EXIT_WITHIN_MS).unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        console.error("latchkey: stopping failed:", error);
        process.exit(1);
      },
    );
  };
  const onSignal = () => {
    if (stopping) process.exit(1);
    begin();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  onParentLost(process.env, begin);
}
