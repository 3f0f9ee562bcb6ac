import { type Browser, chromium } from "playwright-core";
import { findProgram } from "../../packages/server/test/support/programs.ts";

/** Debian's Chromium, driven from the tests, with access to this machine alone. */
const executablePath = findProgram("chromium");
export const hasChromium = executablePath !== undefined;

export const launchChromium = (...more: string[]): Promise<Browser> =>
  chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });
