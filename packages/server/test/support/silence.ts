import { expect } from "vitest";
import type { App } from "../../src/app.ts";
import type { Storage } from "../../src/storage/storage.ts";

/**
 * T28, for every call of every test: no log line has a secret or personal value that a client sent or got. The lines
 * since the last check are searched for the values of the call that was just answered.
 */
const logs = new WeakMap<App, { lines: readonly object[]; seen: number; secrets: Set<string> }>();

export function watchLog(app: App, lines: readonly object[]): void {
  logs.set(app, { lines, seen: 0, secrets: new Set() });
}

/**
 * The same for the log of events of every app: no event has a token, code, secret or password that a client sent or
 * got. A database that the test has broken is not checked.
 */
export async function expectSilentEvents(app: App, { db }: Storage): Promise<void> {
  const secrets = logs.get(app)?.secrets ?? [];
  const written: string[] = [];
  for (const table of ["events", "event_outbox"] as const) {
    const rows = await db
      .selectFrom(table)
      .select("data")
      .limit(5000)
      .execute()
      .catch(() => []);
    written.push(...rows.map(({ data }) => data));
  }
  const text = written.join("\n");
  for (const secret of secrets)
    expect(text, "an event holds what a client sent or got").not.toContain(secret);
}

const NEVER_IN_EVENTS =
  /^(password|.*token|client_secret|client_secret_next|code|code_verifier|oauth_authorization_code|oauth_code_verifier|authorization|cookie|set-cookie)$/i;

/** Found by the names of their members: passwords, tokens, codes, verifiers, secrets, states, nonces, addresses. */
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
  const query = request.url.split("?")[1] ?? "";
  const pairs: [string, string][] = [
    ...new URLSearchParams(query),
    ...request.headers,
    ...response.headers,
    ...new URLSearchParams(response.headers.get("location")?.split("?")[1] ?? ""),
    ...(sentBody.startsWith("{") ? membersOf(sentBody) : new URLSearchParams(sentBody)),
    ...membersOf(text),
  ];
  for (const secret of named(pairs, NEVER_IN_EVENTS))
    if (log.secrets.size < 2000 && isDistinct(secret)) log.secrets.add(secret);
  const fresh = log.lines.slice(log.seen);
  log.seen = log.lines.length;
  if (fresh.length === 0) return;
  const written = JSON.stringify(fresh);
  const secrets = [...(query.includes("=") ? [query] : []), ...named(pairs)];
  for (const secret of secrets)
    expect(written, "a log line holds what a client sent or got").not.toContain(secret);
}

/** A short text, or one repeated letter, may be in an event for another reason. */
const isDistinct = (secret: string): boolean => secret.length >= 12 && new Set(secret).size > 3;

/** Short values occur in any text. */
const named = (pairs: [string, string][], names = SECRET): string[] =>
  pairs
    .filter(([name, value]) => names.test(name) && value.length >= 8)
    .map(([, value]) => value.replace(/^(bearer|basic) /i, ""));

function membersOf(text: string): [string, string][] {
  const found: [string, string][] = [];
  try {
    JSON.parse(text, (name, value) => {
      if (typeof value === "string") found.push([name, value]);
      return value;
    });
  } catch {
    // A text that is not JSON has no members.
  }
  // The code of a problem is no secret, although it is in a member called `code`.
  return found.filter(([name, value]) => name !== "code" || value.length > 60);
}
