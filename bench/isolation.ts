import { randomBytes } from "node:crypto";
import { createStore } from "../packages/server/src/create-store.ts";
import { createProfile } from "../packages/server/src/identity-provider/administer.ts";
import { createCalls } from "../packages/server/src/identity-provider/calls.ts";
import type { Metadata } from "../packages/server/src/identity-provider/discovery.ts";
import { createEgress } from "../packages/server/src/identity-provider/egress.ts";
import { exchangeCode } from "../packages/server/src/identity-provider/exchange.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { createKeyring } from "../packages/server/src/lib/keyring.ts";
import { getSettings } from "../packages/server/src/realms/settings.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import { startHostileIdp } from "../packages/server/test/support/hostile-idp.ts";

/**
 * What one bad identity provider costs another. Run it with `npm run bench:isolation`. Code exchanges at a healthy
 * provider, alone and while 200 at a time wait for one that sends a byte a second, turn about in one process.
 */
const ROUNDS = 6;
const EXCHANGES = 300;

const clock = steadyClock();
const storage = await openStorage({ clock }, "sqlite::memory:");
const keyring = createKeyring([randomBytes(32)]);
const [healthy, dripping] = [await startHostileIdp(), await startHostileIdp()];
const allowedOrigins = [healthy.origin, dripping.origin];
const calls = createCalls({ egress: createEgress({ allowedOrigins }), clock });
const deps = { storage, clock, keyring, calls, allowedOrigins };
const { store } = await createStore({ storage, clock }, { name: "Bench", rateLimit: 100 });
const { realmId } = await getSettings({ storage }, store.id);

const profileAt = (idp: typeof healthy) =>
  createProfile(deps, store.id, realmId, {
    name: "n",
    discoveryUrl: idp.discoveryUrl,
    clientId: "c",
    clientSecret: "s",
  });
const profiles = { healthy: await profileAt(healthy), dripping: await profileAt(dripping) };
dripping.hooks.answer = {
  "/token": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    const timer = setInterval(() => response.write("{"), 1000);
    response.on("close", () => clearInterval(timer));
  },
};

const grant = { idpCode: "c", idpVerifier: "v", idpRedirectUri: "r" };
const exchange = (profile: typeof profiles.healthy) =>
  exchangeCode(deps, profile, profile.metadata as Metadata, grant);

async function times(): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < EXCHANGES; i++) {
    const startedMs = performance.now();
    const result = await exchange(profiles.healthy);
    if (!("tokens" in result)) throw new Error(`the healthy provider failed: ${result.reason}`);
    taken.push(performance.now() - startedMs);
  }
  return taken;
}

const percentile = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] as number;

await times();
const alone: number[] = [];
const beside: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  alone.push(...(await times()));
  const stuck = Array.from({ length: 200 }, () => exchange(profiles.dripping));
  beside.push(...(await times()));
  calls.forget(profiles.dripping.id);
  void Promise.all(stuck);
}
const [p99Alone, p99Beside] = [percentile(alone, 0.99), percentile(beside, 0.99)];
console.log(`Node ${process.version}, ${ROUNDS * EXCHANGES} exchanges each
  p50 alone ${percentile(alone, 0.5).toFixed(2)} ms, beside ${percentile(beside, 0.5).toFixed(2)} ms
  p99 alone ${p99Alone.toFixed(2)} ms, beside ${p99Beside.toFixed(2)} ms   ratio ${(p99Beside / p99Alone).toFixed(2)}`);
process.exit(0);
