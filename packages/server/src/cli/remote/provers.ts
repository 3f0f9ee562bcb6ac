import http from "node:http";
import https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { operatorFault } from "../../lib/operator-fault.ts";
import { ANEW, standardError, writeOver } from "../progress.ts";

/** A client that sends requests with a key, and its results. */
export type Prover = {
  key: string;
  /** The source: the program with the key's secret, or an address with a public token. */
  from: string;
  reserved: number;
  /** Requests per second, evenly spaced. `undefined`: without a pause. */
  pace: number | undefined;
  /** The most requests at once to catch up after a delay. */
  atOnce: number;
  token: string;
  agent: http.Agent;
  asked: number;
  served: number;
  refused: number;
};

const FLOOD_IN_FLIGHT = 16;
/** A service without an answer for this long counts as silent. */
export const ANSWERS_WITHIN_MS = 10_000;

/** Connections from a local address; the service counts each such address as a source. */
export function agentFor(url: string, localAddress?: string): http.Agent {
  const options = {
    keepAlive: true,
    maxSockets: 64,
    ...(localAddress !== undefined && { localAddress, family: 4 }),
  };
  return url.startsWith("https:") ? new https.Agent(options) : new http.Agent(options);
}

/** Whether this machine can reach the service from these addresses. macOS has only 127.0.0.1 by default. */
export async function canSendFrom(url: string, addresses: readonly string[]): Promise<boolean> {
  const tries = addresses.map(async (address) => {
    const agent = agentFor(url, address);
    await get(`${url}/health/live`, { agent }).finally(() => agent.destroy());
  });
  return Promise.all(tries).then(
    () => true,
    () => false,
  );
}

export async function runProvers(
  url: string,
  provers: readonly Prover[],
  seconds: number,
  interrupted: AbortSignal,
  answersWithinMs = ANSWERS_WITHIN_MS,
): Promise<void> {
  const startedMs = performance.now();
  // A failed client ends the others and their waits, also those without a connection.
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, interrupted]);
  const isOver = () => signal.aborted || performance.now() - startedMs >= seconds * 1000;
  const asking = { url, signal, timeout: answersWithinMs };
  const work = provers.flatMap((prover) =>
    prover.pace === undefined
      ? Array.from({ length: FLOOD_IN_FLIGHT }, () => askWithoutPause(asking, prover, isOver))
      : [askEvenly(asking, prover, prover.pace, startedMs, isOver)],
  );
  const out = standardError();
  const progress = showProgress(out, provers, startedMs, seconds);
  // The first reason is kept; clients ended by it have no reason of their own.
  await Promise.all(work.map((each) => each.catch((error) => failed.abort(error))));
  clearInterval(progress);
  for (const { agent } of provers) agent.destroy();
  if (out.isTTY) out.write(ANEW);
  if (failed.signal.aborted && !interrupted.aborted) throw failed.signal.reason;
}

type Asking = { url: string; signal: AbortSignal; timeout: number };

/**
 * Sends a request every 1/pace seconds. After a delay it catches up with at most `atOnce` open requests, and never
 * exceeds the pace, however slow the machine is.
 */
async function askEvenly(
  asking: Asking,
  prover: Prover,
  pace: number,
  startedMs: number,
  isOver: () => boolean,
): Promise<void> {
  const { atOnce } = prover;
  const spanMs = (atOnce * 1000) / pace;
  const answeredAtMs: number[] = [];
  const isDue = (): boolean => {
    const nowMs = performance.now();
    const isFree = prover.asked < atOnce || nowMs - (answeredAtMs[prover.asked - atOnce] ?? nowMs) >= spanMs;
    return isFree && nowMs - startedMs >= ((prover.asked + 1) * 1000) / pace;
  };
  const underWay = new Set<Promise<void>>();
  let failure: unknown;
  while (!isOver()) {
    while (isDue()) {
      const at = prover.asked;
      const request = ask(asking, prover)
        .catch((error) => {
          failure ??= error;
        })
        .finally(() => {
          answeredAtMs[at] = performance.now();
          underWay.delete(request);
        });
      underWay.add(request);
    }
    if (failure) throw failure;
    await sleep(Math.min(1000 / pace, 10));
  }
  await Promise.all(underWay);
  if (failure) throw failure;
}

async function askWithoutPause(asking: Asking, prover: Prover, isOver: () => boolean): Promise<void> {
  while (!isOver()) await ask(asking, prover);
}

async function ask({ url, ...within }: Asking, prover: Prover): Promise<void> {
  prover.asked++;
  const path = `${url}/v2/customer-authentication-settings`;
  const headers = { authorization: `Bearer ${prover.token}` };
  const answer = await get(path, { ...within, agent: prover.agent, headers }).catch((cause) => {
    throw operatorFault(
      `the service at ${url} stopped answering (${cause.message}): nothing is proven`,
      cause,
    );
  });
  if (answer.status === 200) prover.served++;
  else if (answer.status === 429) prover.refused++;
  else
    throw operatorFault(
      `the service answered ${answer.status}; its log says why, request ${answer.requestId}`,
    );
}

type ProbeAnswer = { status: number | undefined; requestId: unknown };

/** `fetch` cannot choose the local address. */
function get(url: string, options: http.RequestOptions): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const { get } = url.startsWith("https:") ? https : http;
    const timeout = options.timeout ?? ANSWERS_WITHIN_MS;
    const request = get(url, { ...options, timeout }, (response) => {
      response.resume();
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode, requestId: response.headers["x-request-id"] }),
      );
    });
    request.on("timeout", () => request.destroy(new Error(`silent for ${timeout / 1000} s`)));
    request.on("error", reject);
  });
}

function showProgress(
  out: ReturnType<typeof standardError>,
  provers: readonly Prover[],
  startedMs: number,
  seconds: number,
): NodeJS.Timeout {
  return setInterval(() => {
    const elapsed = Math.round((performance.now() - startedMs) / 1000);
    const figures = provers.map(({ key, served, refused }) => `${key} ${served}/${refused}`).join("   ");
    writeOver(out, `${elapsed} of ${seconds} s   served/refused:  ${figures}`);
  }, 1000);
}
