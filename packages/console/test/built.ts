import { buildConsole } from "../build.ts";

/** Builds the console before all tests, unless dist/ is up to date. */
export default async function setup(): Promise<void> {
  await buildConsole();
}
