import { type Body, type Call, exchange, type Wire } from "./exchange.ts";

/**
 * Calls the API with an access token, which is fetched on first use, and repeats requests that are safe to
 * repeat.
 */

/** Returns the body of the service's answer, or throws an ApiError. */
export type Api = (<T = Body>(call: Call) => Promise<T>) & {
  /** Gives the access token to requests that are not sent through `Api`. */
  bearer(refused: string | undefined): Promise<string>;
};

type AccessOptions = Wire & {
  /** The form fields of a token request, or a function that supplies tokens. */
  grant: Record<string, string> | GetToken;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
};

/** Supplies a valid access token. `refused`: a token that the service has answered with 401. */
export type GetToken = (refused: string | undefined) => Promise<string> | string;

type Access = { token: string; renewAt: number };

const RENEW_EARLY_MS = 60_000;
const MAX_TRIES = 3;
const MAX_WAIT_MS = 10_000;

export function createApi(options: AccessOptions): Api {
  const { now, sleep, grant } = options;
  let access: Promise<Access> | undefined;

  async function issue(): Promise<Access> {
    try {
      const { access_token, expires_in } = await call<{ access_token: string; expires_in: number }>({
        method: "POST",
        path: "/oauth/access_token",
        step: "access_token",
        form: grant as Record<string, string>,
        expects: "access_token",
      });
      // `expires_in`, not `expires`: a shopper's clock may be wrong.
      return { token: access_token, renewAt: now() + expires_in * 1000 - RENEW_EARLY_MS };
    } catch (error) {
      access = undefined;
      throw error;
    }
  }

  /** `refused`: a token that the service has answered with 401, even if its lifetime is not over. */
  async function bearer(refused: string | undefined): Promise<string> {
    if (typeof grant === "function") return grant(refused);
    const before = access;
    const known = await before;
    if (known && known.renewAt > now() && known.token !== refused) return known.token;
    // Several calls may find the token stale: the first replaces the promise, and the others await the same one.
    if (!access || access === before) access = issue();
    return (await access).token;
  }

  async function call<T>(request: Call): Promise<T> {
    const isRepeatable = request.method === "GET" || request.idempotencyKey || request.form;
    let refused: string | undefined;
    let isLost = false;
    let waitedMs = 0;
    for (let tries = 1; ; tries++) {
      const token = request.form ? undefined : await bearer(refused);
      const outcome = await exchange(options, request, token);
      if (!outcome.error) return outcome.body as T;
      const { error, waitSeconds } = outcome;
      const { status } = error;
      if (status === 401 && token && !refused) {
        // The service answers 401 before it does anything, so the repeat does not count as a try.
        refused = token;
        tries--;
        continue;
      }
      const wasLost = isLost;
      isLost ||= !error.errors.length && status !== 429 && status !== 503;
      const mayRepeat = status === 429 || (isRepeatable && (status === 503 || (isLost && !wasLost)));
      waitedMs += waitSeconds * 1000;
      if (!mayRepeat || tries === MAX_TRIES || waitedMs > MAX_WAIT_MS) throw error;
      await sleep(waitSeconds * 1000);
    }
  }

  return Object.assign(call, { bearer });
}

/**
 * Every id goes through here into a path: an empty id would name the whole list, and DELETE would delete the
 * list.
 */
export function pathOf(id: string): string {
  if (!/^[\w-]+$/.test(id)) throw new TypeError("this is not an id");
  return `/${id}`;
}
