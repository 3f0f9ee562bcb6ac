import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findMemberSignIn } from "../../src/contract/members.ts";
import { createRealm } from "../../src/contract/realms.ts";
import { deleteStore } from "../../src/delete-store.ts";
import { newId } from "../../src/lib/ids.ts";
import { createTestApp, PUBLIC_URL, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type Engine, engines, type TestDatabase } from "../support/engines.ts";
import { CONSOLE } from "../support/members.ts";

/** A stranger may learn where the members of a store sign in, if they know the store, or if there is one only. */

describe.each(engines.map((engine) => [engine.name, engine] as const))("on %s", (_, engine: Engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
  });
  beforeEach(({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
  });
  afterAll(async () => {
    if (!engine.isHere) return;
    await latchkey.close();
    await database.drop();
  });

  const find = async (query: Record<string, string> = {}) => {
    const asked = { query: new URLSearchParams(query).toString() };
    const answer = await call(latchkey.app, findMemberSignIn, asked);
    expect(answer.status).toBe(200);
    return answer.body.data;
  };
  const newStore = async () => {
    const { store, call: ask } = await latchkey.createStore();
    const addMembersRealm = async (): Promise<string> => {
      const json = { data: { type: "authentication-realm", name: "Team", purpose: "members" } };
      return (await ask(createRealm, { json })).body.data.id;
    };
    return { id: store.id, addMembersRealm };
  };
  const answerOf = (store: string, realm: string) => [
    {
      type: "member-sign-in",
      store_id: store,
      realm_id: realm,
      issuer: `${PUBLIC_URL}/sign-on/stores/${store}/realms/${realm}`,
      redirect_uri_registered: false,
    },
  ];

  test("without a store: the only store with a realm for members; nothing when there is none, or a second one", async () => {
    const [shop, other] = [await newStore(), await newStore()];
    expect(await find()).toEqual([]);
    const realm = await shop.addMembersRealm();
    expect(await find()).toEqual(answerOf(shop.id, realm));
    await other.addMembersRealm();
    expect(await find()).toEqual([]);
    await deleteStore(latchkey, other.id);
    expect(await find()).toEqual(answerOf(shop.id, realm));
    await deleteStore(latchkey, shop.id);
    expect(await find()).toEqual([]);
  });

  test("with a store: its realm; an unknown store and one without members get the same answer", async () => {
    const [shop, other, without] = [await newStore(), await newStore(), await newStore()];
    const realm = await shop.addMembersRealm();
    await other.addMembersRealm();
    expect(await find({ store: shop.id })).toEqual(answerOf(shop.id, realm));
    expect([await find({ store: without.id }), await find({ store: newId() })]).toEqual([[], []]);
    const asked = { query: "store=shop" };
    expect((await call(latchkey.app, findMemberSignIn, asked)).code).toBe("parameter_invalid");
  });

  test("says whether members can come back to a redirect URI", async () => {
    const shop = await newStore();
    await shop.addMembersRealm();
    const isRegistered = async (redirect_uri: string) =>
      (await find({ store: shop.id, redirect_uri }))[0].redirect_uri_registered;
    expect([
      await isRegistered(CONSOLE),
      await isRegistered("https://old.example/console/signed-in"),
    ]).toEqual([true, false]);
  });
});
