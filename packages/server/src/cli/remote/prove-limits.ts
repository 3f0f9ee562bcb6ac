import { readPublicUrl } from "../../config.ts";
import type { Grant } from "../../contract/permissions.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { capacityOf } from "../../rate-limit/fair-share.ts";
import { requireStore } from "../operator/require-store.ts";
import { printAnswer } from "../operator/show-list.ts";
import { withStorage } from "../operator/with-storage.ts";
import { readUrl, readWhole } from "../options.ts";
import { readJson } from "../read-json.ts";
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
      const result = judge(proof, seconds, store.rate_limit);
      if (!result.proven) process.exitCode = 1;
      printAnswer(json, result, describe(result));
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
  const byProgram = async (key: Made, pace: number | undefined) => {
    const token = await getToken(url, key, "client_credentials", interrupted);
    return newProver(key, { from: "its program", pace, token, agent: agentFor(url) });
  };
  const steady = await Promise.all(
    steadyKeys.map(async (key) => ({ ...(await byProgram(key, key.reserved)), atOnce: key.reserved })),
  );
  const own = await byProgram(publicKey, publicKey.reserved / 3);
  const flood = await byProgram(floodKey, undefined);
  const token = await getToken(url, publicKey, "implicit", interrupted);
  const fromAddress = (address: string, pace: number | undefined) =>
    newProver(publicKey, { from: address, pace, token, agent: agentFor(url, address) });
  if (!(await canSendFrom(url, [STRANGER, ...VISITORS]))) {
    const asker = { from: "this address", pace: undefined, token, agent: agentFor(url) };
    const stranger = newProver(publicKey, asker);
    return { steady, guarded: [own], floods: [flood, stranger] };
  }
  // Each visitor sends a third of its fair part: the floor minus the program's share, divided by the sources.
  const pace = (publicKey.reserved * 2) / 3 / SOURCES / 3;
  const visitors = VISITORS.map((address) => fromAddress(address, pace));
  return { steady, guarded: [own, ...visitors], floods: [flood, fromAddress(STRANGER, undefined)] };
}

const newProver = (
  { name: key, reserved }: Made,
  asker: Pick<Prover, "from" | "pace" | "token" | "agent">,
): Prover => ({ key, reserved, ...asker, atOnce: 1, asked: 0, served: 0, refused: 0 });

async function getToken(url: string, { created }: Made, grant: Grant, signal: AbortSignal): Promise<string> {
  const body = new URLSearchParams({
    grant_type: grant,
    client_id: created.client_id,
    ...(grant === "client_credentials" && { client_secret: created.client_secret }),
  });
  const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWERS_WITHIN_MS)]);
  const { status, text } = await ask(`${url}/oauth/access_token`, within, { form: body }).catch((cause) => {
    if (signal.aborted) throw operatorFault(INTERRUPTED);
    throw operatorFault(`no latchkey answers at ${url}; start it, or give its address with --url`, cause);
  });
  if (status === 401)
    throw operatorFault(`the service at ${url} does not know the key just made: it runs on another database`);
  const token = status === 200 ? readJson(text)?.access_token : undefined;
  if (typeof token === "string") return token;
  throw operatorFault(
    `${url} answers ${status}, and no access token, to a request for one; give the service's address with --url`,
  );
}

const sumOf = (provers: readonly Prover[], what: "served" | "refused"): number =>
  provers.reduce((sum, prover) => sum + prover[what], 0);

/** The result as `--json` prints it. */
function judge(proof: Proof, seconds: number, rateLimit: number) {
  const all = [...proof.steady, ...proof.guarded, ...proof.floods];
  // The statement about sources holds only for a large enough limit.
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
  return {
    proven: broken.length === 0,
    broken,
    seconds,
    rate_limit: rateLimit,
    served,
    most_that_could_be_served: most,
    refused_within_a_reservation: refused.steady,
    refused_beside_the_stranger: refused.guarded,
    sources_promised: isPromised,
    /** This machine can send from several addresses. */
    sources_tried: proof.guarded.length > 1,
    provers: all.map(({ key, from, reserved, pace, asked, served, refused }) => ({
      key,
      from,
      reserved_rate_limit: reserved,
      asks_per_second: pace ?? null,
      asked,
      served,
      refused,
    })),
  };
}

function describe({ provers, broken, seconds, served, ...found }: ReturnType<typeof judge>): string {
  const { sources_promised: isPromised, sources_tried: isTried } = found;
  const rows = provers.map(({ asks_per_second: pace, ...prover }) => {
    const { key, from, reserved_rate_limit: reserved, asked, served, refused } = prover;
    return [key, from, reserved, pace === null ? "no pause" : pace.toFixed(1), asked, served, refused];
  });
  const visitors = isTried && isPromised ? ", a stranger's flood took from nobody" : "";
  return [
    formatTable(["key", "from", "reserved/s", "asks/s", "asked", "served", "refused"], rows),
    "",
    `refused within a reservation   ${found.refused_within_a_reservation}   (must be 0)`,
    `refused beside the stranger    ${found.refused_beside_the_stranger}   (${isPromised ? "must be 0" : `not promised: the key's floor gives each source less than ${SMALLEST_PART} a second`})`,
    `served in all                  ${served} in ${seconds} s, ${(served / seconds).toFixed(1)} a second; the store's limit is ${found.rate_limit}`,
    `the most that could be served  ${found.most_that_could_be_served}: the limit, with a second's worth and a fifth at the start`,
    "",
    ...(isTried
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
