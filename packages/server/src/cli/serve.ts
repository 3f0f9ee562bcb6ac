import { readConfig, variables } from "../config.ts";
import { startService } from "../main.ts";
import { readOptions } from "./options.ts";

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

/** The first signal stops in good order; a second one means now. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) process.exit(1);
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
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
