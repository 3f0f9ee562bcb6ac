import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { promisify } from "node:util";
import { CompactSign, compactVerify } from "jose";
import { newId } from "../packages/server/src/lib/ids.ts";
import { readJws, signJws } from "../packages/server/src/lib/jws.ts";

/**
 * What it costs to make and to check a customer token: `lib/jws.ts`, which calls node:crypto and waits for it, against
 * jose, which calls WebCrypto and answers later. Run it with `npm run bench:tokens`. Turn about in one process; a round is
 * 500 tokens, one after the other or twenty at once. "Event loop" is the time that nothing else could run in.
 */

const TOKENS = 500;
const AT_ONCE = 20;
const ROUNDS = 15;

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const publicKey = createPublicKey(privateKey);
const kid = "LpH3mVQ4Yw0Zk2aT";
const claims = {
  iss: `https://keys.example/sign-on/stores/${newId()}/realms/${newId()}`,
  sub: newId(),
  aud: "https://keys.example",
  client_id: "customers",
  iat: 1_767_225_600,
  exp: 1_767_312_000,
  jti: newId(),
  store_id: newId(),
  amr: ["fed"],
  profile_id: newId(),
};
const header = { alg: "ES256", typ: "at+jwt", kid };
const made = signJws({ kid, alg: "ES256", privateKey }, "at+jwt", claims);

const verifyInPool = promisify(verify);
const joseKey = { key: publicKey, dsaEncoding: "ieee-p1363" as const };

/** As little as can be done with jose: it neither refuses duplicate members nor other spellings by itself. */
const ways: Record<string, Record<string, () => unknown>> = {
  make: {
    "lib/jws.ts": () => signJws({ kid, alg: "ES256", privateKey }, "at+jwt", claims),
    jose: () =>
      new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(privateKey),
  },
  check: {
    "lib/jws.ts": () => {
      if (!readJws(made)?.isSignedBy(publicKey)) throw new Error("a good token was refused");
    },
    "in the pool": () => {
      const at = made.lastIndexOf(".");
      const signature = Buffer.from(made.slice(at + 1), "base64url");
      readJws(made);
      return verifyInPool("sha256", Buffer.from(made.slice(0, at)), joseKey, signature);
    },
    jose: async () => {
      const { payload } = await compactVerify(made, publicKey, { algorithms: ["ES256"] });
      return JSON.parse(Buffer.from(payload).toString());
    },
  },
};

type Cost = { wallUs: number; loopUs: number };

async function round(work: () => unknown, atOnce: number): Promise<Cost> {
  const [startedMs, before] = [performance.now(), process.threadCpuUsage()];
  for (let i = 0; i < TOKENS; i += atOnce) {
    const pending = Array.from({ length: atOnce }, work);
    await Promise.all(pending);
  }
  const { user, system } = process.threadCpuUsage(before);
  return { wallUs: ((performance.now() - startedMs) * 1000) / TOKENS, loopUs: (user + system) / TOKENS };
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

console.log(`Node ${process.version}, microseconds for one token, median of ${ROUNDS} rounds\n`);
for (const [what, candidates] of Object.entries(ways)) {
  for (const atOnce of [1, AT_ONCE]) {
    const costs: Record<string, Cost[]> = Object.fromEntries(
      Object.keys(candidates).map((name) => [name, []]),
    );
    for (let i = 0; i < ROUNDS; i++)
      for (const [name, work] of Object.entries(candidates)) costs[name]?.push(await round(work, atOnce));
    for (const [name, of] of Object.entries(costs)) {
      const [wallUs, loopUs] = [median(of.map((cost) => cost.wallUs)), median(of.map((cost) => cost.loopUs))];
      console.log(
        `${what.padEnd(6)} ${String(atOnce).padStart(2)} at once   ${name.padEnd(10)}   ${wallUs.toFixed(0).padStart(4)} until done   ${loopUs.toFixed(0).padStart(4)} of the event loop`,
      );
    }
  }
}
