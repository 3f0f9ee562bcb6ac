import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";

/**
 * `latchkey restore` carries rights over from the database that it replaces; without that database, webhooks are
 * disabled.
 */

let place: Place;
let running: Running | undefined;

beforeEach(async () => {
  place = await newPlace();
});
afterEach(async () => {
  await stop();
  place.leave();
});

async function start(): Promise<void> {
  running = await serve(place);
}
async function stop(): Promise<void> {
  running?.child.kill("SIGTERM");
  await running?.exited;
  running = undefined;
}
const run = (...args: string[]) => latchkey(args, place.env);
const ask = async (token: string, method: string, path: string, data?: object) =>
  fetch(`${place.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(data && { body: JSON.stringify({ data }) }),
  });
const make = async (token: string, path: string, data: object): Promise<string> =>
  ((await (await ask(token, "POST", path, data)).json()) as { data: { id: string } }).data.id;

test("without a replaced database webhooks stay disabled until each is enabled, and the command lists them", async () => {
  await start();
  const made = await createStore(place);
  const id = await make(await getToken(place.url, made), "/v2/integrations", {
    type: "integration",
    name: "Stock",
    integration_type: "webhook",
    observes: ["customer.*"],
    configuration: { url: "https://stock.example/hook" },
  });
  const file = join(place.folder, "with-webhook.db");
  await run("backup", file);
  await stop();
  const { stdout } = await run("restore", file, "--ignore-current");
  expect(stdout).toContain("latchkey integration enable");
  expect(stdout).toContain("stock.example");
  const shown = async () => {
    await start();
    const answer = await ask(await getToken(place.url, made), "GET", `/v2/integrations/${id}`);
    await stop();
    return ((await answer.json()) as { data: object }).data;
  };
  expect(await shown()).toMatchObject({ enabled: false, meta: { disabled_reason: "restored" } });
  const enabled = await run("integration", "enable", "--store", made.store.id, "--id", id, "--json");
  expect(JSON.parse(enabled.stdout)).toMatchObject({ integration: { id, enabled: true } });
  expect(await shown()).toMatchObject({ enabled: true, meta: { disabled_reason: null } });
});

test("a customer who was erased or deleted since does not come back, nor does a store", async () => {
  await start();
  const [made, other] = [await createStore(place), await createStore(place)];
  const token = await getToken(place.url, made);
  const customer = (name: string) =>
    make(token, "/v2/customers", {
      type: "customer",
      name,
      email: `${name}@shop.example`,
      password: "correct horse",
    });
  const [erased, deleted] = [await customer("erased"), await customer("deleted")];
  const file = join(place.folder, "with-people.db");
  await run("backup", file);
  expect((await ask(token, "POST", `/v2/customers/${erased}/erase`)).status).toBe(200);
  expect((await ask(token, "DELETE", `/v2/customers/${deleted}`)).status).toBe(204);
  expect((await run("store", "delete", "--id", other.store.id, "--yes")).code).toBe(0);
  await stop();
  const { stdout } = await run("restore", file, "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    carried_over: { erased: 1, deleted_customers: 1, stores: 1, unread: [] },
    may_be_back: null,
  });
  expect(readFileSync(join(place.folder, "latchkey.db"), "latin1")).not.toContain("erased@shop.example");
  const { stores } = JSON.parse((await run("store", "list", "--json")).stdout);
  expect(stores.map((store: { id: string }) => store.id)).not.toContain(other.store.id);
});
