import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "../packages/server/test/support/until.ts";
import { createHttpClient } from "./load/http-client.ts";
import { quantileOf } from "./measure/figures.ts";
import { withSession } from "./measure/session.ts";
import { startLatchkey } from "./servers/latchkey.ts";
import { begin, comeBack, goToIdp, newPerson } from "./workloads/steps.ts";
import { bearer, expectAnswer, type Target } from "./workloads/workload.ts";

/**
 * The cost that one bad identity provider causes at another: `npm run bench:isolation`. Measures callbacks through a
 * healthy provider, alone and, by turns, while callbacks wait for a provider whose token endpoint sends a byte a
 * second. Each callback has a code exchange, a verified ID token and its writes.
 */
const ROUNDS = 5;
const CALLBACKS = 200;
const STUCK = 200;
/** Latchkey sends no more requests than this to one provider at a time; the other callbacks wait in the service. */
const AT_ONE_PROVIDER = 50;

/**
 * A copy of the provider at `idp` whose token endpoint never completes an answer. `waiting` has the answers under way.
 */
async function startDripping(idp: string) {
  const waiting = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.url !== "/token") {
      const text = await (await fetch(`${idp}${request.url}`)).text();
      return void response.end(text.replaceAll(idp, origin));
    }
    waiting.add(response.writeHead(200));
    const timer = setInterval(() => response.write("{"), 1000);
    response.on("close", () => {
      clearInterval(timer);
      waiting.delete(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, waiting, close: () => server.close() };
}

const client = createHttpClient();

/** The target of sign-ons through a new profile of another provider. */
async function withProfileAt(target: Target, origin: string): Promise<Target> {
  const { url, realmId, accessToken } = target;
  const data = {
    type: "oidc-profile",
    name: "Dripping",
    discovery_url: `${origin}/.well-known/openid-configuration`,
    client_id: "the-store",
    client_secret: "a secret",
  };
  const answer = await client.send({
    url: `${url}/v2/authentication-realms/${realmId}/oidc-profiles`,
    method: "POST",
    headers: { ...bearer(accessToken), "Content-Type": "application/json" },
    body: JSON.stringify({ data }),
  });
  return { ...target, idp: origin, profileId: JSON.parse(expectAnswer(answer, 201).body).data.id };
}

/** Begins a sign-on and sends the callback, which waits for the dripping provider and fails in the end. */
async function getStuck(target: Target): Promise<void> {
  const { atIdp, ...begun } = await begin(client, target);
  const { searchParams } = new URL(atIdp);
  const query = new URLSearchParams({ code: "a-code", state: searchParams.get("state") ?? "" });
  comeBack(client, { ...begun, back: `${searchParams.get("redirect_uri")}?${query}` }).catch(() => {});
}

async function timeCallbacks(target: Target): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CALLBACKS; i++) {
    const returned = await goToIdp(client, target, newPerson());
    const startedMs = performance.now();
    await comeBack(client, returned);
    times.push(performance.now() - startedMs);
  }
  return times;
}

await withSession(async ({ databases, idp }) => {
  const dripping = await startDripping(idp);
  const env = { LATCHKEY_EGRESS_ALLOW: `${idp},${dripping.origin}` };
  const { server, target } = await startLatchkey({ databaseUrl: await databases.create("sqlite"), idp, env });
  const alone: number[] = [];
  const beside: number[] = [];
  try {
    await timeCallbacks(target);
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(...(await timeCallbacks(target)));
      const stuck = await withProfileAt(target, dripping.origin);
      await Promise.all(Array.from({ length: STUCK }, () => getStuck(stuck)));
      await until(() => dripping.waiting.size >= AT_ONE_PROVIDER);
      beside.push(...(await timeCallbacks(target)));
      await until(() => dripping.waiting.size === 0);
    }
  } finally {
    client.close();
    dripping.close();
    await server.stop();
  }
  const [p50, p99] = [0.5, 0.99].map((part) => [alone, beside].map((times) => quantileOf(times, part)));
  for (const [name, [first = 0, second = 0] = []] of [
    ["p50", p50],
    ["p99", p99],
  ] as const)
    console.log(
      `${name} alone ${first.toFixed(2)} ms, beside ${STUCK} stuck callbacks ${second.toFixed(2)} ms   ratio ${(second / first).toFixed(2)}`,
    );
});
