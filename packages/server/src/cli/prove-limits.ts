import { setTimeout as sleep } from "node:timers/promises";
import { createApplicationKey, deleteApplicationKey } from "../application-keys/administer.ts";
import type { KeyWithSecret } from "../application-keys/application-key.ts";
import type { Clock } from "../lib/clock.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { ADMINISTRATION_FLOOR } from "../rate-limit/plan.ts";
import type { Storage } from "../storage/storage.ts";
import { findStore } from "../stores/store.ts";
import { readOptions, readWhole, required } from "./options.ts";
import { formatTable } from "./table.ts";
import { withStorage } from "./with-storage.ts";

const USAGE = `latchkey prove-limits --store <store> [--seconds 10] [--url <base of the running service>]

Floods the store's shared pool from one key, while two others ask for no more than they have reserved, and counts what
is refused. The three keys are made for the proof and deleted after it; the store's other keys feel the flood on the
shared pool, as they would a real one. Exit code 0: no reserved request was refused.`;

type Deps = { storage: Storage; clock: Clock };
type Prover = {
  name: string;
  floor: number;
  keyId: string;
  token: string;
  asked: number;
  served: number;
  refused: number;
};

const FLOOD_IN_FLIGHT = 32;
const STEADY_KEYS = 2;

export async function proveLimits(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    store: { type: "string" },
    seconds: { type: "string", default: "10" },
    url: { type: "string" },
  });
  if (!options) return;
  const storeId = required(options.store, "--store");
  const seconds = readWhole(options.seconds, "--seconds", 1);
  const url =
    (options.url ?? process.env.LATCHKEY_PUBLIC_URL) || `http://localhost:${process.env.PORT || 4000}`;
  await withStorage(async (deps) => {
    const store = await findStore(deps.storage, storeId);
    if (!store) throw operatorFault(`there is no store ${storeId}; \`latchkey store list\` shows them`);
    const free = store.rateLimit - store.totalReserved;
    if (free < 2 * STEADY_KEYS) {
      throw operatorFault(
        `the proof needs ${2 * STEADY_KEYS} unreserved requests per second, and the store has ${free}`,
      );
    }
    const interrupted = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupted.abort());
    const keyIds: string[] = [];
    try {
      const provers = await makeProvers(deps, storeId, Math.floor(free / (2 * STEADY_KEYS)), url, keyIds);
      await run(url, provers, seconds, interrupted.signal);
      if (interrupted.signal.aborted)
        throw operatorFault("interrupted; the keys made for the proof are deleted");
      report(provers, seconds, store.rateLimit);
    } finally {
      for (const keyId of keyIds) await deleteApplicationKey(deps, storeId, keyId);
    }
  });
}

async function makeProvers(
  deps: Deps,
  storeId: string,
  floor: number,
  url: string,
  keyIds: string[],
): Promise<Prover[]> {
  const wanted = [
    ...Array.from({ length: STEADY_KEYS }, (_, index) => ({ name: `steady ${index + 1}`, floor })),
    { name: "flood", floor: 0 },
  ];
  const provers: Prover[] = [];
  for (const { name, floor } of wanted) {
    const created = await createApplicationKey(deps, storeId, {
      name: `prove-limits ${name}`,
      reservedRateLimit: floor,
    });
    keyIds.push(created.key.id);
    const token = await getToken(url, created);
    provers.push({ name, floor, keyId: created.key.id, token, asked: 0, served: 0, refused: 0 });
  }
  return provers;
}

async function getToken(url: string, { key, clientSecret }: KeyWithSecret): Promise<string> {
  const body = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: key.clientId,
    client_secret: clientSecret,
  });
  const answer = await fetch(`${url}/oauth/access_token`, { method: "POST", body }).catch((cause) => {
    throw operatorFault(`no latchkey answers at ${url}; start it, or say where it is with --url`, cause);
  });
  const granted = (await answer.json()) as { access_token?: string };
  if (!granted.access_token) {
    throw operatorFault(`the service at ${url} does not know the key just made: it runs on another database`);
  }
  return granted.access_token;
}

async function run(url: string, provers: Prover[], seconds: number, interrupted: AbortSignal): Promise<void> {
  const startedMs = performance.now();
  let failure: unknown;
  const isOver = () =>
    failure !== undefined || interrupted.aborted || performance.now() - startedMs >= seconds * 1000;
  const work = provers.flatMap((prover) =>
    prover.floor > 0
      ? [askSteadily(url, prover, startedMs, isOver)]
      : Array.from({ length: FLOOD_IN_FLIGHT }, () => askWithoutPause(url, prover, isOver)),
  );
  const progress = showProgress(provers, startedMs, seconds);
  // One that fails ends the others, and none is left behind.
  const failed = (error: unknown) => {
    failure ??= error;
  };
  await Promise.all(work.map((each) => each.catch(failed)));
  clearInterval(progress);
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  if (failure) throw failure;
}

/** One request every 1/floor seconds. What a late timer missed is sent at once, never more than the schedule allows. */
async function askSteadily(
  url: string,
  prover: Prover,
  startedMs: number,
  isOver: () => boolean,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let failure: unknown;
  while (!isOver()) {
    const due = Math.floor(((performance.now() - startedMs) * prover.floor) / 1000);
    while (prover.asked < due) {
      const request = ask(url, prover)
        .catch((error) => {
          failure ??= error;
        })
        .finally(() => underWay.delete(request));
      underWay.add(request);
    }
    if (failure) throw failure;
    await sleep(Math.min(1000 / prover.floor, 10));
  }
  await Promise.all(underWay);
  if (failure) throw failure;
}

async function askWithoutPause(url: string, prover: Prover, isOver: () => boolean): Promise<void> {
  while (!isOver()) await ask(url, prover);
}

async function ask(url: string, prover: Prover): Promise<void> {
  prover.asked++;
  const headers = { Authorization: `Bearer ${prover.token}` };
  const answer = await fetch(`${url}/v2/store`, { headers }).catch((cause) => {
    throw operatorFault(`the service at ${url} stopped answering`, cause);
  });
  await answer.arrayBuffer();
  if (answer.status === 200) prover.served++;
  else if (answer.status === 429) prover.refused++;
  else
    throw operatorFault(
      `the service answered ${answer.status}; its log says why, request ${answer.headers.get("x-request-id")}`,
    );
}

function showProgress(provers: Prover[], startedMs: number, seconds: number): NodeJS.Timeout {
  const isTerminal = process.stderr.isTTY;
  return setInterval(() => {
    const elapsed = Math.round((performance.now() - startedMs) / 1000);
    const figures = provers.map(({ name, served, refused }) => `${name} ${served}/${refused}`).join("   ");
    const line = `${elapsed} of ${seconds} s   served/refused:  ${figures}`;
    process.stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  }, 1000);
}

function report(provers: Prover[], seconds: number, rateLimit: number): void {
  const refusedByFloor = provers.reduce((sum, { floor, refused }) => (floor > 0 ? sum + refused : sum), 0);
  const served = provers.reduce((sum, prover) => sum + prover.served, 0);
  // Each bucket starts with a second's worth, floors with a tenth more, and a refill runs while the last answers come.
  const most = Math.ceil((rateLimit + ADMINISTRATION_FLOOR) * (seconds + 1) + rateLimit * 0.1 + 4);
  const rows = provers.map(({ name, floor, asked, served, refused }) => [
    name,
    floor,
    asked,
    served,
    refused,
  ]);
  console.log(formatTable(["key", "reserved/s", "asked", "served", "refused"], rows));
  console.log(`
refused within a reservation   ${refusedByFloor}   (must be 0)
served in all                  ${served} in ${seconds} s, ${(served / seconds).toFixed(1)} a second; the store's limit is ${rateLimit}
the most that could be served  ${most}: the limit and the administrator's ${ADMINISTRATION_FLOOR} a second, with one second's worth at the start
`);
  if (refusedByFloor > 0 || served > most) {
    process.exitCode = 1;
    console.log(
      refusedByFloor > 0
        ? "NOT PROVEN: a reservation was not kept."
        : "NOT PROVEN: more was served than the limit allows.",
    );
  } else {
    console.log("PROVEN: no request within a reservation was refused, and the limit held.");
  }
}
