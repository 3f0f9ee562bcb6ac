import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { testSignOn } from "../../src/contract/oidc-profiles.ts";
import { backchannelLogout } from "../../src/contract/sign-on.ts";
import { getSignOnStatistics, listSignOns } from "../../src/contract/sign-ons.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { insertCrowd } from "../support/many-rows.ts";
import { createMembersSide, type MembersSide } from "../support/members.ts";

/** Records of shoppers, of members and of tests, told apart by the filter as the statistics do. */

type Row = { outcome: string; test: boolean; realm_id: string };

describe.each(engines)("the list of sign-ons on $name", (engine) => {
  let database: TestDatabase;
  let idp: HostileIdp;
  let f: Federation;
  let members: MembersSide;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    idp = await startHostileIdp();
    f = await createFederation({ databaseUrl: database.url, idp });
    members = await createMembersSide(f);
  });
  afterEach(async () => {
    await f?.latchkey.storage.close();
    await idp?.close();
    await database?.drop();
  });

  const list = async (...conditions: string[]) => {
    await f.latchkey.app.tidy();
    return f.store.call(listSignOns, { query: `page[limit]=100&filter=${conditions.join(":")}` });
  };
  const found = async (...conditions: string[]) =>
    (await list(...conditions)).body.data.map(({ outcome, test, realm_id }: Row) =>
      [realm_id === members.realmId ? "member" : "shopper", ...(test ? ["test"] : []), outcome].join(" "),
    );
  /** A test sign-on of an administrator, from its offer to its page. */
  const makeTest = async () => {
    const { body } = await f.store.call(testSignOn, { ids: { realm: f.realmId, id: f.profileId } });
    const begun = await f.latchkey.app.fetch(new Request(body.data.url));
    const cookie = /^[^=]+=([^;]+)/.exec(begun.headers.get("set-cookie") ?? "")?.[1];
    await f.comeBack({ cookie }, f.idp.signIn(begun.headers.get("location") ?? ""));
  };
  const mixed = async () => {
    await f.redeem(await f.signOn());
    await f.signOn();
    await members.token("ada@work.example", "viewer");
    await makeTest();
  };

  test("has shoppers' sign-ons, members' and tests apart", async () => {
    await mixed();
    expect(await found()).toHaveLength(4);
    const shoppers = ["shopper code_issued", "shopper exchanged"];
    expect(await found("eq(purpose,customers)", "eq(test,false)")).toEqual(shoppers);
    expect(await found("eq(purpose,customers)")).toEqual(["shopper test tested", ...shoppers]);
    expect(await found("eq(purpose,members)")).toEqual(["member exchanged"]);
    expect(await found("eq(test,true)")).toEqual(["shopper test tested"]);
    expect(await found("eq(purpose,members)", "eq(test,true)")).toEqual([]);
  });

  test("agrees with the statistics of shoppers", async () => {
    await mixed();
    const rows: string[] = await found("eq(purpose,customers)", "eq(test,false)");
    const { body } = await f.store.call(getSignOnStatistics);
    const { started: _, ...outcomes } = body.data[0].outcomes;
    expect(outcomes).toEqual({ exchanged: 1, code_issued: 1 });
    expect(rows).toHaveLength(2);
  });

  test("not_finished are codes that wait and codes that have expired", async () => {
    await f.signOn();
    f.latchkey.clock.advance(120_000);
    await f.latchkey.app.tidy();
    await f.signOn();
    await f.redeem(await f.signOn());
    expect(await found("eq(outcome,not_finished)")).toEqual(["shopper code_issued", "shopper expired"]);
  });

  test("sign_on leaves refused logout tokens out, as the statistics do", async () => {
    await mixed();
    const logout = await call(f.latchkey.app, backchannelLogout, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      form: { logout_token: "a.b.c" },
    });
    expect(logout.status).toBe(400);
    const shoppers = ["eq(purpose,customers)", "eq(test,false)"];
    expect(await found(...shoppers)).toHaveLength(3);
    expect(await found(...shoppers, "eq(outcome,sign_on)")).toEqual([
      "shopper code_issued",
      "shopper exchanged",
    ]);
    expect(await found("eq(outcome,logout_refused)")).toEqual(["shopper logout_refused"]);
    const { body } = await f.store.call(getSignOnStatistics);
    const { started: _, ...outcomes } = body.data[0].outcomes;
    expect(outcomes).toEqual({ exchanged: 1, code_issued: 1 });
  });

  test("has the sign-ons of one key, as the statistics by key count them", async () => {
    await mixed();
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(getSignOnStatistics, { query: "group=key" });
    const counted = new Map<string | null, number>();
    for (const { key_id, outcomes } of body.data)
      counted.set(key_id, (outcomes.exchanged ?? 0) + (outcomes.code_issued ?? 0));
    const keys = [...counted.keys()].filter((key) => key !== null);
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      const rows = await found("eq(purpose,customers)", "eq(test,false)", `eq(key_id,${key})`);
      expect(rows).toHaveLength(counted.get(key) ?? 0);
    }
    expect(await found(`eq(key_id,${f.profileId})`)).toEqual([]);
  });

  test("knows a member's sign-on by the realm, where an earlier release has not marked it", async () => {
    await mixed();
    await f.latchkey.app.tidy();
    await f.latchkey.storage.db.updateTable("sign_ons").set({ of_members: null }).execute();
    expect(await found("eq(purpose,customers)", "eq(test,false)")).toHaveLength(2);
  });

  test("continues behind a page with the same filter", async () => {
    for (let made = 0; made < 3; made++) await f.signOn();
    await makeTest();
    await f.latchkey.app.tidy();
    const query = "page[limit]=2&filter=eq(purpose,customers):eq(test,false)";
    const { body } = await f.store.call(listSignOns, { query });
    expect(body.meta.results.total).toBe(3);
    const next = await f.store.call(listSignOns, { query: new URL(body.links.next).search.slice(1) });
    expect([body.data.length, next.body.data.length]).toEqual([2, 1]);
  });

  test("finds the one test behind more sign-ons than a search looks through", async () => {
    await makeTest();
    await members.token("ada@work.example", "viewer");
    await f.latchkey.app.tidy();
    const { clock, storage } = f.latchkey;
    const [storeId, count] = [f.store.store.id, 20_300];
    await insertCrowd(storage, { storeId, count, overAt: clock.now() + 1000, tables: ["sign_ons"] });
    expect(await found("eq(test,true)")).toEqual(["shopper test tested"]);
    expect(await found("eq(purpose,members)")).toEqual(["member exchanged"]);
    expect(await found("eq(purpose,members)", "eq(outcome,exchanged)")).toEqual(["member exchanged"]);
    expect(await found("eq(test,true)", "eq(outcome,sign_on)")).toEqual(["shopper test tested"]);
    expect(await found("eq(purpose,members)", "eq(outcome,sign_on)")).toEqual(["member exchanged"]);
  });

  test.each(["eq(purpose,tests)", "eq(purpose,1)", "eq(test,1)", "eq(test,yes)", "gt(test,true)"])(
    "400 for %s",
    async (condition) => {
      const { status, body } = await list(condition);
      expect([status, body.errors[0].source]).toEqual([400, { parameter: "filter" }]);
    },
  );
});
