import { afterEach, beforeEach, expect, test } from "vitest";
import { postgresEngine, type TestDatabase } from "../../packages/server/test/support/engines.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until, untilServed } from "../../packages/server/test/support/until.ts";
import {
  hasValkey,
  NO_VALKEY,
  startValkey,
  type ValkeyServer,
} from "../../packages/server/test/support/valkey-server.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** Two processes on one PostgreSQL, as an operator starts them, with and without Valkey. */

let database: TestDatabase;
let place: Place;
let valkey: ValkeyServer | undefined;
let running: Running[];

beforeEach(async ({ skip }) => {
  if (!postgresEngine.isHere) skip("PostgreSQL is not installed");
  database = await postgresEngine.create();
  place = await newPlace(database.url);
  running = [];
});
afterEach(async () => {
  for (const { child, exited } of running ?? []) {
    child.kill("SIGKILL");
    await exited;
  }
  await valkey?.remove();
  valkey = undefined;
  place?.leave();
  await database?.drop();
});

async function start(more: Record<string, string> = {}): Promise<Running> {
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const instance = await serve({ ...place, url, env: { ...place.env, PORT: port, ...more } });
  running.push(instance);
  return instance;
}

const ready = async ({ url }: Running) => {
  const answer = await fetch(`${url}/health/ready`);
  const { degraded } = (await answer.json()) as { degraded?: string[] };
  return { status: answer.status, degraded };
};
/** Whether the instance has decided alone. */
const wasAlone = async ({ url }: Running) =>
  /^latchkey_valkey_decisions_total\{by="fallback"\} [1-9]/m.test(
    await (await fetch(`${url}/metrics`)).text(),
  );
const hasLogged = ({ logLines }: Running, event: string) =>
  logLines().some((line) => line.includes(`"event":"${event}"`));

test("a second instance without Valkey logs, and reports on readiness, that each instance counts alone", async () => {
  const first = await start();
  expect(hasLogged(first, "degraded")).toBe(false);
  const second = await start();
  await until(() => hasLogged(second, "degraded"));
  expect(second.logLines().find((line) => line.includes("degraded"))).toContain(
    "LATCHKEY_VALKEY_URL is not set",
  );
  for (const instance of [first, second])
    await until(async () => (await ready(instance)).degraded?.[0]?.startsWith("counters: "));
});

test("with Valkey two instances share one limit; when Valkey is away they serve, 200 and degraded (T47)", async ({
  skip,
}) => {
  if (!hasValkey) skip(NO_VALKEY);
  valkey = await startValkey();
  const env = { LATCHKEY_VALKEY_URL: valkey.url };
  const two = [await start(env), await start(env)];
  for (const instance of two) await until(() => hasLogged(instance, "valkey_connected"));
  const made = await createStore(place, "--rate-limit", "10");
  const token = await getToken(place.url.replace(/:\d+$/, `:${two[0]?.env.PORT}`), made);
  const headers = { authorization: `Bearer ${token}` };
  const ask = async ({ url }: Running) =>
    (await untilServed(() => fetch(`${url}/v2/customers`, { headers }))).status;
  const askBoth = async (times: number) =>
    (await Promise.all(Array.from({ length: times }, () => two.map(ask)).flat())).toSorted();

  const startedMs = performance.now();
  const statuses = await askBoth(60);
  const seconds = (performance.now() - startedMs) / 1000;
  const served = statuses.filter((status) => status === 200).length;
  expect(served).toBeGreaterThanOrEqual(10);
  // A busy machine may miss Valkey's answer within 50 ms; then each instance has served its part once more.
  const alone = await Promise.all(two.map(wasAlone));
  expect(served).toBeLessThanOrEqual(12 + 10 * seconds + (alone.includes(true) ? 14 : 0));
  expect(new Set(statuses)).toEqual(new Set([200, 429]));

  await valkey.stop();
  for (const instance of two)
    await until(async () => {
      const { status, degraded } = await ready(instance);
      expect(status).toBe(200);
      return degraded?.[0]?.startsWith("counters: Valkey does not answer");
    });
  for (const status of await askBoth(10)) expect([200, 429]).toContain(status);
  await valkey.start();
  for (const instance of two) await until(async () => (await ready(instance)).degraded === undefined);
  for (const { child, exited } of two) {
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
  }
});
