import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createApplicationKey,
  dryRunApplicationKey,
  getApplicationKey,
  listApplicationKeys,
  updateApplicationKey,
} from "../../../src/contract/application-keys.ts";
import { listEvents } from "../../../src/contract/events.ts";
import { createTestApp, type TestApp, type TestStore } from "../../support/app.ts";

/** `openid_client` of an application key: what the realms of its store demand of the key as a client. */

let latchkey: TestApp;
let store: TestStore;
beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore();
});
afterAll(() => latchkey.close());

const json = (more: object) => ({ json: { data: { type: "application_key", name: "A program", ...more } } });
const make = async (more: object) => (await store.call(createApplicationKey, json(more))).body.data;
const kindOf = async (id: string) =>
  (await store.call(getApplicationKey, { ids: { id } })).body.data.openid_client;

test("openid_client is `pkce` unless the request says `standard`, in every answer", async () => {
  expect([(await make({})).openid_client, (await make({ openid_client: "standard" })).openid_client]).toEqual(
    ["pkce", "standard"],
  );
  const { data } = (await store.call(listApplicationKeys)).body;
  expect(data.map((key: { openid_client: string }) => key.openid_client)).toEqual([
    "pkce",
    "pkce",
    "standard",
  ]);
});

test("an update without openid_client keeps it; an update with one changes it and notes an event", async () => {
  const { id } = await make({});
  const update = (more: object) => store.call(updateApplicationKey, { ids: { id }, ...json(more) });
  expect((await update({ openid_client: "standard" })).body.data.openid_client).toBe("standard");
  expect((await update({ reserved_rate_limit: 1 })).body.data.openid_client).toBe("standard");
  await latchkey.app.tidy();
  const { data } = (await store.call(listEvents, { query: "types=application_key.updated" })).body;
  expect(data[0].data.changes.openid_client).toEqual({ before: "pkce", after: "standard" });
});

test("a dry run ignores openid_client and changes nothing", async () => {
  const { id } = await make({});
  const answer = await store.call(dryRunApplicationKey, {
    ids: { id },
    ...json({ openid_client: "standard" }),
  });
  expect([answer.status, await kindOf(id)]).toEqual([200, "pkce"]);
});

test.each([null, "", "Standard", "public", 1, ["standard"]])(
  "an application key › 400 for the openid_client %j",
  async (openid_client) => {
    const { id } = await make({});
    for (const answer of [
      await store.call(createApplicationKey, json({ openid_client })),
      await store.call(updateApplicationKey, { ids: { id }, ...json({ openid_client }) }),
    ])
      expect([answer.status, answer.code]).toEqual([400, "member_invalid"]);
    expect(await kindOf(id)).toBe("pkce");
  },
);
