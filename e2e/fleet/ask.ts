import { setTimeout as sleep } from "node:timers/promises";
import type { Deed, Entry } from "./history.ts";

/** Sends requests, and records each request, its answer and both times. */
export type Notebook = {
  entries: Entry[];
  /** Values that must be in no log. */
  secrets: Set<string>;
  ask(target: Target, request: Asked): Promise<Answer>;
};

/** An instance, or the balancer in front of them. */
export type Target = { name: string; url: string };

type Asked = {
  method?: string;
  path: string;
  token?: string;
  /** The application key whose limit the request counts against, where the checker looks at limits. */
  key?: string;
  headers?: Record<string, string>;
  data?: object;
  form?: Record<string, string>;
  /** The effect of the request, read from its answer. */
  deed?: (answer: Answer) => Deed;
};

export type Answer = {
  status: number | undefined;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
  data: any;
};

/** The end of a wait for an answer that does not come; the checker's own deadline is shorter. */
const GIVE_UP_MS = 30_000;

export function newNotebook(): Notebook {
  const entries: Entry[] = [];

  async function ask({ name, url }: Target, request: Asked): Promise<Answer> {
    const sentMs = performance.now();
    const answer = await receive(url, request);
    const retryAfter = answer.headers.get("retry-after") ?? undefined;
    const deed = request.deed?.(answer) ?? { did: "other" };
    const doneMs = performance.now();
    entries.push({ at: name, sentMs, doneMs, status: answer.status, retryAfter, key: request.key, deed });
    return answer;
  }
  return { entries, secrets: new Set(), ask };
}

async function receive(url: string, request: Asked): Promise<Answer> {
  const { method = "GET", path, token, headers, data, form } = request;
  const body = form ? new URLSearchParams(form) : data && JSON.stringify({ data });
  try {
    const answer = await fetch(url + path, {
      method,
      redirect: "manual",
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(data && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body && { body }),
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") === true && text !== "";
    const parsed = isJson ? JSON.parse(text) : {};
    return { status: answer.status, headers: answer.headers, data: parsed.data ?? parsed };
  } catch {
    return { status: undefined, headers: new Headers(), data: {} };
  }
}

export const isGood = ({ status }: Answer): boolean => status !== undefined && status < 400;
/** The request may have been carried out: repeat it, if it is safe to repeat. */
const isInDoubt = ({ status }: Answer): boolean => status === undefined || status >= 500;

/** Repeats the request until its outcome is known, as a client with a safe request does. */
export async function untilAnswered(isOver: () => boolean, ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask();
  for (let tries = 0; isInDoubt(answer) && tries < 100 && !isOver(); tries++) {
    await sleep(200);
    answer = await ask();
  }
  return answer;
}
