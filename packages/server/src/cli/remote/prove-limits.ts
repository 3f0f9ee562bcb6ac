import { readPublicUrl } from "../../config.ts";
import type { Grant } from "../../contract/permissions.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { capacityOf } from "../../rate-limit/fair-share.ts";
import { requireStore } from "../operator/require-store.ts";
import { withStorage } from "../operator/with-storage.ts";
import { readUrl, readWhole } from "../options.ts";
import { formatTable } from "../table.ts";
import { ask } from "./ask.ts";
import { deleteKeys, deleteLeftKeys, type Made, makeKeys, STEADY_KEYS, tellLeft } from "./proof-keys.ts";
import { ANSWERS_WITHIN_MS, agentFor, canSendFrom, type Prover, runProvers } from "./provers.ts";

type Proof = { steady: Prover[]; guarded: Prover[]; floods: Prover[] };

const STRANGER = "127.0.0.2";
const VISITORS = ["127.0.0.3", "127.0.0.4"];
const SOURCES = VISITORS.length + 1;
/**
 * The store's free limit is divided into this many parts: two for the public key's floor, one for each steady key, four
 * shared.
 */
const PARTS = 4 * STEADY_KEYS;
/**
 * From this limit on, the statement of docs/rate-limits.md about sources holds: each has at least five requests a
 * second.
 */
const SMALLEST_PART = 5;

const INTERRUPTED = "interrupted: nothing is proven";

type ProofOptions = { store: string; seconds: string; url: string | undefined; json: boolean };

export async function proveLimits(given: ProofOptions): Promise<void> {
  const { store: storeId, json } = given;
  const seconds = readWhole(given.seconds, "--seconds", 1);
  const url = given.url === undefined ? readPublicUrl(process.env) : readUrl(given.url);
  await withStorage(async (deps) => {
    await requireStore(deps, storeId);
    await deleteLeftKeys(deps, storeId);
    const store = await requireStore(deps, storeId);
    const free = store.rate_limit - store.total_reserved_rate_limit;
    if (free < PARTS)
      throw operatorFault(
        `the proof needs ${PARTS} unreserved requests per second, and the store has ${free}`,
      );
    const interrupted = new AbortController();
    // For every signal: a closed terminal sends several, and the keys must be deleted after the first.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => interrupted.abort());
    const keys: Made[] = [];
    try {
      await makeKeys(deps, storeId, Math.floor(free / PARTS), keys);
      const proof = await makeProvers(url, keys, interrupted.signal);
      await runProvers(
        url,
        [...proof.steady, ...proof.guarded, ...proof.floods],
        seconds,
        interrupted.signal,
      );
      if (interrupted.signal.aborted) throw operatorFault(INTERRUPTED);
      report(proof, seconds, store.rate_limit, json);
    } finally {
      const ids = keys.map(({ created }) => created.id);
      const left = await deleteKeys(deps, storeId, ids);
      // Not thrown, so that an earlier failure is reported as well.
      if (left.length > 0) tellLeft(storeId, left);
    }
  });
}

async function makeProvers(url: string, keys: Made[], interrupted: AbortSignal): Promise<Proof> {
  const [publicKey, floodKey, ...steadyKeys] = keys as [Made, Made, ...Made[]];
  const byProgram = async (key: Made, pace: number | undefined) =>
    newProver(
      key,
      "its program",
      pace,
      await getToken(url, key, "client_credentials", interrupted),
      agentFor(url),
    );
  const steady = await Promise.all(
    steadyKeys.map(async (key) => ({ ...(await byProgram(key, key.reserved)), atOnce: key.reserved })),
  );
  const own = await byProgram(publicKey, publicKey.reserved / 3);
  const flood = await byProgram(floodKey, undefined);
  const token = await getToken(url, publicKey, "implicit", interrupted);
  const fromAddress = (address: string, pace: number | undefined) =>
    newProver(publicKey, address, pace, token, agentFor(url, address));
  if (!(await canSendFrom(url, [STRANGER, ...VISITORS]))) {
    const stranger = newProver(publicKey, "this address", undefined, token, agentFor(url));
    return { steady, guarded: [own], floods: [flood, stranger] };
  }
  // A third of each source's part of what the program leaves.
  const pace = (publicKey.reserved * 2) / 3 / SOURCES / 3;
  const visitors = VISITORS.map((address) => fromAddress(address, pace));
  return { steady, guarded: [own, ...visitors], floods: [flood, fromAddress(STRANGER, undefined)] };
}

const newProver = (
  { name, reserved }: Made,
  from: string,
  pace: number | undefined,
  token: string,
  agent: Prover["agent"],
): Prover => ({
  key: name,
  from,
  reserved,
  pace,
  atOnce: 1,
  token,
  agent,
  asked: 0,
  served: 0,
  refused: 0,
});

async function getToken(url: string, { created }: Made, grant: Grant, signal: AbortSignal): Promise<string> {
  const body = new URLSearchParams({
    grant_type: grant,
    client_id: created.client_id,
    ...(grant === "client_credentials" && { client_secret: created.client_secret }),
  });
  const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWERS_WITHIN_MS)]);
  const { status, text } = await ask(`${url}/oauth/access_token`, within, body).catch((cause) => {
    if (signal.aborted) throw operatorFault(INTERRUPTED);
    throw operatorFault(`no latchkey answers at ${url}; start it, or give its address with --url`, cause);
  });
  if (status === 401)
    throw operatorFault(`the service at ${url} does not know the key just made: it runs on another database`);
  const token = status === 200 ? tokenIn(text) : undefined;
  if (typeof token === "string") return token;
  throw operatorFault(
    `${url} answers ${status}, and no access token, to a request for one; give the service's address with --url`,
  );
}

function tokenIn(text: string): unknown {
  try {
    return Object(JSON.parse(text)).access_token;
  } catch {
    return undefined;
  }
}

const sumOf = (provers: readonly Prover[], what: "served" | "refused"): number =>
  provers.reduce((sum, prover) => sum + prover[what], 0);

function report(proof: Proof, seconds: number, rateLimit: number, json: boolean): void {
  const all = [...proof.steady, ...proof.guarded, ...proof.floods];
  const isPromised = (proof.guarded[0]?.reserved ?? 0) >= SMALLEST_PART * SOURCES;
  const served = sumOf(all, "served");
  // Each bucket starts with a second's worth and its reserve, and refills while the last answers arrive.
  const most = Math.ceil(rateLimit * seconds + capacityOf(rateLimit) + 2 * all.length + 4);
  const refused = { steady: sumOf(proof.steady, "refused"), guarded: sumOf(proof.guarded, "refused") };
  const broken = [
    ...(refused.steady > 0 ? ["a reservation was not kept"] : []),
    ...(isPromised && refused.guarded > 0 ? ["a stranger's flood took from others"] : []),
    ...(served > most ? ["more was served than the limit allows"] : []),
  ];
  if (broken.length > 0) process.exitCode = 1;
  const hasVisitors = proof.guarded.length > 1;
  const found = { all, seconds, rateLimit, hasVisitors, isPromised, served, most, refused, broken };
  console.log(json ? JSON.stringify(toJson(found)) : describe(found));
}

type ProofResult = {
  all: Prover[];
  seconds: number;
  rateLimit: number;
  /** This machine can send from several addresses. */
  hasVisitors: boolean;
  /** The store's limit is large enough for the statement about sources. */
  isPromised: boolean;
  served: number;
  most: number;
  refused: { steady: number; guarded: number };
  broken: string[];
};

const toJson = ({ all, broken, refused, ...found }: ProofResult) => ({
  proven: broken.length === 0,
  broken,
  seconds: found.seconds,
  rate_limit: found.rateLimit,
  served: found.served,
  most_that_could_be_served: found.most,
  refused_within_a_reservation: refused.steady,
  refused_beside_the_stranger: refused.guarded,
  sources_promised: found.isPromised,
  sources_tried: found.hasVisitors,
  provers: all.map(({ key, from, reserved, pace, asked, served, refused }) => ({
    key,
    from,
    reserved_rate_limit: reserved,
    asks_per_second: pace ?? null,
    asked,
    served,
    refused,
  })),
});

function describe({ all, hasVisitors, isPromised, refused, broken, ...found }: ProofResult): string {
  const { seconds, rateLimit, served, most } = found;
  const rows = all.map(({ key, from, reserved, pace, asked, served, refused }) => {
    return [key, from, reserved, pace === undefined ? "no pause" : pace.toFixed(1), asked, served, refused];
  });
  const visitors = hasVisitors && isPromised ? ", a stranger's flood took from nobody" : "";
  return [
    formatTable(["key", "from", "reserved/s", "asks/s", "asked", "served", "refused"], rows),
    "",
    `refused within a reservation   ${refused.steady}   (must be 0)`,
    `refused beside the stranger    ${refused.guarded}   (${isPromised ? "must be 0" : `not promised: the key's floor gives each source less than ${SMALLEST_PART} a second`})`,
    `served in all                  ${served} in ${seconds} s, ${(served / seconds).toFixed(1)} a second; the store's limit is ${rateLimit}`,
    `the most that could be served  ${most}: the limit, with a second's worth and a fifth at the start`,
    "",
    ...(hasVisitors
      ? []
      : [
          `Fairness between addresses was not tried: this machine cannot send to the service from ${STRANGER}.`,
          "",
        ]),
    broken.length > 0
      ? `NOT PROVEN: ${broken.join("; ")}.`
      : `PROVEN: no request within a reservation was refused${visitors}, and the limit held.`,
  ].join("\n");
}
