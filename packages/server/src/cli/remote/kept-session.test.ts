import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findSession, forgetSession, getSession, keepSession, sessionFile } from "./kept-session.ts";

let folder: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-session-"));
  env = { XDG_CONFIG_HOME: folder };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const session = {
  url: "https://keys.example",
  store: { id: "s", name: "Shop" },
  name: "Ada",
  role: "support",
  access_token: "token",
  expires_at: "2026-11-20T10:00:00.000Z",
};

test.skipIf(process.platform === "win32")("only the user can read the file and its folder", () => {
  const file = keepSession(env, session);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
});

test.skipIf(process.platform === "win32")("a file that others can read is replaced, not reused", () => {
  const file = sessionFile(env);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "{}");
  chmodSync(file, 0o644);
  keepSession(env, session);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(findSession(env)).toEqual(session);
});

test("the file is in XDG_CONFIG_HOME, in %APPDATA% on Windows, else in ~/.config", () => {
  expect(sessionFile(env, "linux")).toBe(join(folder, "latchkey", "session.json"));
  expect(sessionFile({ APPDATA: folder }, "win32")).toBe(join(folder, "latchkey", "session.json"));
  const usual = join(homedir(), ".config", "latchkey", "session.json");
  expect(sessionFile({}, "linux")).toBe(usual);
  expect(sessionFile({ XDG_CONFIG_HOME: "relative" }, "linux")).toBe(usual);
});

test("without a sign-in, after it has expired, and with a damaged file the command says what to run", () => {
  const before = Date.parse(session.expires_at) - 1;
  expect(() => getSession(env, before)).toThrow("latchkey login <url>");
  keepSession(env, session);
  expect(getSession(env, before)).toEqual(session);
  expect(() => getSession(env, before + 1)).toThrow("latchkey login https://keys.example");
  writeFileSync(sessionFile(env), "{");
  expect(() => getSession(env, before)).toThrow("latchkey login <url>");
});

test("signing out deletes the file, also when there is none", () => {
  keepSession(env, session);
  forgetSession(env);
  expect(findSession(env)).toBeUndefined();
  forgetSession(env);
});
