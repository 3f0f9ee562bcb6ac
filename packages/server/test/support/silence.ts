import { expect } from "vitest";
import type { App } from "../../src/app.ts";

/**
 * T28, for every call of every test: what a client sent or got that is secret or personal is in no log line. The lines
 * that were written since the last look are searched for the values of the call that was just answered.
 */
const logs = new WeakMap<App, { lines: readonly object[]; seen: number }>();

export function watchLog(app: App, lines: readonly object[]): void {
  logs.set(app, { lines, seen: 0 });
}

/** By the names that they go by: passwords, tokens, codes, verifiers, secrets, states, nonces, addresses. */
const SECRET =
  /^(password|email|token|access_token|id_token|logout_token|client_secret|client_secret_next|code|code_verifier|code_challenge|state|nonce|oauth_authorization_code|oauth_code_verifier|authorization|cookie|set-cookie|x-customer-token|x-moltin-customer-token|idempotency-key)$/i;

export function expectSilence(
  app: App,
  request: Request,
  sentBody: string,
  response: Response,
  text: string,
): void {
  const log = logs.get(app);
  if (!log) return;
  const fresh = log.lines.slice(log.seen);
  log.seen = log.lines.length;
  if (fresh.length === 0) return;
  const written = JSON.stringify(fresh);
  const query = request.url.split("?")[1] ?? "";
  const secrets = [
    ...(query.includes("=") ? [query] : []),
    ...named([...new URLSearchParams(query)]),
    ...named([...request.headers]),
    ...named([...response.headers]),
    ...named([...new URLSearchParams(response.headers.get("location")?.split("?")[1] ?? "")]),
    ...named(sentBody.startsWith("{") ? membersOf(sentBody) : [...new URLSearchParams(sentBody)]),
    ...named(membersOf(text)),
  ];
  for (const secret of secrets)
    expect(written, "a log line holds what a client sent or got").not.toContain(secret);
}

/** Short ones are found in anything. */
const named = (pairs: [string, string][]): string[] =>
  pairs
    .filter(([name, value]) => SECRET.test(name) && value.length >= 8)
    .map(([, value]) => value.replace(/^(bearer|basic) /i, ""));

function membersOf(text: string): [string, string][] {
  const found: [string, string][] = [];
  try {
    JSON.parse(text, (name, value) => {
      if (typeof value === "string") found.push([name, value]);
      return value;
    });
  } catch {
    // What is not JSON has no members.
  }
  // A problem's code is no secret, although it goes by that name.
  return found.filter(([name, value]) => name !== "code" || value.length > 60);
}
