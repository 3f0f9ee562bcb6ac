import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp } from "../packages/server/src/app.ts";
import { createStore } from "../packages/server/src/create-store.ts";
import { createEgress } from "../packages/server/src/egress/egress.ts";
import { byOperator } from "../packages/server/src/events/event.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { createKeyring } from "../packages/server/src/lib/keyring.ts";
import { createProfile } from "../packages/server/src/profiles/administer.ts";
import { createCalls } from "../packages/server/src/profiles/calls.ts";
import { createDiscoveryTries } from "../packages/server/src/profiles/discovery-tries.ts";
import { updateRealm } from "../packages/server/src/realms/administer.ts";
import { getSettings } from "../packages/server/src/realms/settings.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import { type HostileIdp, startHostileIdp } from "../packages/server/test/support/hostile-idp.ts";
import { silentLog } from "../packages/server/test/support/silent-log.ts";
import { quantileOf } from "./measure/figures.ts";
import { SHOP } from "./workloads/steps.ts";

/**
 * The cost that one bad identity provider causes at another: `npm run bench:isolation`. Measures callbacks through a healthy provider,
 * alone and while 200 callbacks wait for a provider whose token endpoint sends a byte a second, by turns in one process. Each callback
 * has a code exchange, a verified ID token and two writes.
 */
const ROUNDS = 5;
const CALLBACKS = 200;
const STUCK = 200;

const clock = steadyClock();
const storage = await openStorage({ clock }, "sqlite::memory:");
const keyring = createKeyring([randomBytes(32)]);
const [healthy, dripping] = [await startHostileIdp(), await startHostileIdp()];
const allowedOrigins = [healthy.origin, dripping.origin];
const deps = {
  publicUrl: "https://keys.example",
  storage,
  clock,
  keyring,
  allowedOrigins,
  discoveryTries: createDiscoveryTries({ clock }),
  calls: createCalls({ egress: createEgress({ allowedOrigins }), clock }),
};
const app = createApp({ ...deps, log: silentLog });
const { store } = await createStore({ storage, clock }, { name: "Bench", rate_limit: 100 });
const { realm_id: realmId } = await getSettings({ storage }, store.id);
await updateRealm(deps, byOperator(store.id), realmId, { redirect_uris: [SHOP] });

const profileAt = (idp: HostileIdp) =>
  createProfile(deps, byOperator(store.id), realmId, {
    name: "n",
    discovery_url: idp.discoveryUrl,
    client_id: idp.clientId,
    client_secret: "s",
  });
dripping.hooks.answer = {
  "/token": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    const timer = setInterval(() => response.write("{"), 1000);
    response.on("close", () => clearInterval(timer));
  },
};

let visits = 0;
/** Every request comes from another address, so that the limit per source refuses none. */
async function visit(url: string, cookie = ""): Promise<Response> {
  const source = `192.0.${Math.floor(++visits / 250) % 250}.${visits % 250}`;
  return app.fetch(new Request(url, { headers: { cookie } }), {
    incoming: { socket: { remoteAddress: source } },
  });
}

/** Does the part of a sign-on that precedes the callback. `back` is the URL of the callback. */
async function begin(idp: HostileIdp, profileId: string): Promise<{ back: string; cookie: string }> {
  const query = new URLSearchParams({
    profile: profileId,
    scope: "openid email",
    response_type: "code",
    client_id: "customers",
    redirect_uri: SHOP,
    state: "s",
    code_challenge_method: "S256",
    code_challenge: createHash("sha256").update("v").digest("base64url"),
  });
  const answer = await visit(
    `https://keys.example/sign-on/stores/${store.id}/realms/${realmId}/authorize?${query}`,
  );
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { back: idp.signIn(answer.headers.get("location") ?? ""), cookie };
}

const healthyProfile = await profileAt(healthy);

async function timeCallbacks(): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < CALLBACKS; i++) {
    const { back, cookie } = await begin(healthy, healthyProfile.id);
    const startedMs = performance.now();
    const answer = await visit(back, cookie);
    taken.push(performance.now() - startedMs);
    if (!answer.headers.get("location")?.includes("code="))
      throw new Error("the healthy provider's sign-on failed");
  }
  return taken;
}

await timeCallbacks();
const alone: number[] = [];
const beside: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  alone.push(...(await timeCallbacks()));
  const profile = await profileAt(dripping);
  const begun = await Promise.all(Array.from({ length: STUCK }, () => begin(dripping, profile.id)));
  const stuck = begun.map(({ back, cookie }) => visit(back, cookie));
  // The measurement begins when the callbacks wait, so accepting 200 callbacks is not part of the times.
  while (dripping.asked("/token") < (round + 1) * 50) await sleep(10);
  await sleep(500);
  beside.push(...(await timeCallbacks()));
  void Promise.all(stuck);
}
const [p99Alone, p99Beside] = [quantileOf(alone, 0.99), quantileOf(beside, 0.99)];
console.log(`Node ${process.version}, ${ROUNDS * CALLBACKS} callbacks each; "beside": while ${STUCK} other callbacks wait
  p50 alone ${quantileOf(alone, 0.5).toFixed(2)} ms, beside ${quantileOf(beside, 0.5).toFixed(2)} ms
  p99 alone ${p99Alone.toFixed(2)} ms, beside ${p99Beside.toFixed(2)} ms   ratio ${(p99Beside / p99Alone).toFixed(2)}`);
process.exit(0);
