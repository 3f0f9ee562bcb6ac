import { buildConsole } from "../build.ts";

/** Before all tests: whoever asks for the console gets the one of these sources. It takes no time where nothing has changed. */
export default async function setup(): Promise<void> {
  await buildConsole();
}
