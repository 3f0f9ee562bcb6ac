import { execFileSync } from "node:child_process";
import { type Browser, chromium } from "playwright-core";

/** Debian's Chromium, driven from the tests. It talks to this machine only. */
const REMEDY = "install chromium (Debian: apt-get install chromium)";

function findChromium(): string | undefined {
  try {
    return execFileSync("bash", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

const executablePath = findChromium();
export const hasChromium = executablePath !== undefined;

if (!hasChromium && process.env.CI)
  throw new Error(`Chromium is not here, and CI must not skip its tests: ${REMEDY}`);
if (!hasChromium)
  console.warn(`Skipped: the tests in a real browser, because there is no Chromium. To run them, ${REMEDY}.`);

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
