import { describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { getCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import { getMe } from "../../../src/contract/members.ts";
import { updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { createTestApp } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { createFederation, type SignedOn } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { createMembersSide } from "../../support/members.ts";
import {
  BEA,
  f,
  good,
  isAlive,
  logOut,
  nowSeconds,
  outcome,
  PASSWORD,
  post,
  providerSessions,
  type Session,
  signIn,
} from "./logout-tokens.ts";

/** The tokens and codes that a good logout token ends. */

providerSessions();

describe("a good logout token", () => {
  test("200 with an empty body and no-store, also when no session matches (R173, N116)", async () => {
    for (let i = 0; i < 2; i++) {
      const { status, body, headers } = await logOut();
      expect([status, body]).toEqual([200, {}]);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.has("access-control-allow-origin")).toBe(false);
      f.latchkey.clock.advance(1000);
      await signIn();
    }
  });

  test.each<[string, object]>([
    ["by session and subject", {}],
    ["by session alone", { sub: undefined }],
  ])("%s ends the tokens of that session and no others (N116)", async (_, changes) => {
    const [first, again] = [await signIn(), await signIn()];
    const [elsewhere, bea] = [await signIn({ ...ADA, sid: "session-2" }), await signIn(BEA)];
    expect((await logOut(changes)).status).toBe(200);
    expect([await isAlive(first), await isAlive(again)]).toEqual([false, false]);
    expect([await isAlive(elsewhere), await isAlive(bea)]).toEqual([true, true]);
  });

  test("by subject ends every session of the subject through that profile (N116)", async () => {
    const ended = [
      await signIn(),
      await signIn({ ...ADA, sid: "session-2" }),
      await signIn({ ...ADA, sid: undefined }),
    ];
    const bea = await signIn({ ...BEA, sid: ADA.sid });
    expect((await logOut({ sid: undefined })).status).toBe(200);
    for (const session of ended) expect(await isAlive(session)).toBe(false);
    expect(await isAlive(bea)).toBe(true);
  });

  /** Three sessions of one subject: with the token's sid, with another sid, without a sid; and two of Bea. */
  const SESSIONS: Record<string, object> = {
    named: ADA,
    "of another name": { ...ADA, sid: "session-2" },
    unnamed: { ...ADA, sid: undefined },
    "Bea's": BEA,
    "Bea's unnamed": { ...BEA, sid: undefined },
  };

  test.each<[string, object, string[]]>([
    [
      "with subject and session ends that session, and the subject's sessions without a sid",
      {},
      ["named", "unnamed"],
    ],
    ["with a session alone ends that session, and none without a sid", { sub: undefined }, ["named"]],
    [
      "with a subject alone ends all sessions of the subject",
      { sid: undefined },
      ["named", "of another name", "unnamed"],
    ],
  ])("%s", async (_, changes, ended) => {
    const names = Object.keys(SESSIONS);
    const sessions: Record<string, Session> = {};
    const codes: Record<string, SignedOn> = {};
    for (const name of names) {
      sessions[name] = await signIn(SESSIONS[name]);
      codes[name] = await f.signOn();
    }
    expect((await logOut(changes)).status).toBe(200);
    const gone: Record<string, boolean[]> = {};
    for (const name of names)
      gone[name] = [
        !(await isAlive(sessions[name] as Session)),
        (await f.redeem(codes[name] as SignedOn)).status === 400,
      ];
    // Tokens and unredeemed codes end alike.
    const expected = names.map((name) => [name, [ended.includes(name), ended.includes(name)]]);
    expect(gone).toEqual(Object.fromEntries(expected));
  });

  test("ends nothing if session and subject belong to different people", async () => {
    const session = await signIn();
    expect((await logOut({ sub: "bea" })).status).toBe(200);
    expect((await logOut({ sid: "session-2" })).status).toBe(200);
    expect(await isAlive(session)).toBe(true);
  });

  test("compares subjects and sessions case-sensitively and in full (R107)", async () => {
    const session = await signIn();
    await logOut({ sub: "Subject", sid: undefined });
    await logOut({ sub: undefined, sid: "Session-1" });
    await logOut({ sub: undefined, sid: "session-" });
    await logOut({ sub: undefined, sid: "session-%" });
    expect(await isAlive(session)).toBe(true);
  });

  test("keeps the customer's password tokens: they belong to no provider session", async () => {
    const { customer } = await signIn();
    const json = { data: { type: "customer", password: PASSWORD } };
    await f.store.call(updateCustomer, { ids: { id: customer }, json });
    const session = await signIn();
    const { body } = await call(f.latchkey.app, issueCustomerToken, {
      token: f.implicit,
      json: { data: { type: "token", email: ADA.email, password: PASSWORD } },
    });
    const byPassword = { token: body.data.token, customer: body.data.customer_id };
    expect(byPassword.customer).toBe(session.customer);
    await logOut({ sid: undefined });
    expect([await isAlive(session), await isAlive(byPassword)]).toEqual([false, true]);
  });

  test.each([
    ["an identity that was left behind stays signed in", false],
    ["an identity that was carried over is signed out", true],
  ])("after a move of the profile ends identities of the new issuer: %s", async (_, isCarried) => {
    const before = await signIn();
    f.idp.issuer = `${f.idp.origin}/`;
    const choice = isCarried
      ? { adopt_identities_of: f.profileId, confirm: "Hostile" }
      : { adopt_identities_of: null };
    const address = { discovery_url: f.idp.issuer, client_secret: "first secret" };
    const json = { data: { type: "oidc-profile", ...address, ...choice } };
    const moved = await f.store.call(updateProfile, { ids: { realm: f.realmId, id: f.profileId }, json });
    expect(moved.status).toBe(200);
    const after = await signIn();
    expect((await logOut({ sid: undefined })).status).toBe(200);
    expect([await isAlive(before), await isAlive(after)]).toEqual([!isCarried, false]);
  });

  test("keeps tokens through another profile and of another store, even of the same provider (A33)", async () => {
    const profile = await f.addProfile({ name: "The same provider again" });
    const { latchkey, idp } = f;
    const other = await createFederation({ idp, storage: latchkey.storage, clock: latchkey.clock });
    const session = await signIn();
    const through = await signIn(ADA, profile);
    const { data } = (await other.redeem(await other.signOn())).body;
    await logOut({ sid: undefined });
    expect([await isAlive(session), await isAlive(through)]).toEqual([false, true]);
    const there = await call(latchkey.app, getCustomer, {
      token: other.implicit,
      ids: { id: data.customer_id },
      headers: { "x-customer-token": data.token },
    });
    expect(there.status).toBe(200);
  });

  test.each<[string, object]>([
    ["by session", { sub: undefined }],
    ["by subject", { sid: undefined }],
    ["by both", {}],
  ])("%s voids codes that were not redeemed; another person's code works (N116)", async (_, changes) => {
    const [first, second] = [await f.signOn(), await f.signOn()];
    f.idp.person = { ...BEA };
    const bea = await f.signOn();
    await logOut(changes);
    for (const signedOn of [first, second])
      expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_invalid"]);
    expect((await f.redeem(bea)).status).toBe(200);
    const attempts = await f.latchkey.storage.db.selectFrom("sign_on_attempts").selectAll().execute();
    expect(attempts.map(({ state, identity }) => [state, identity]).sort()).toEqual([
      ["exchanged", null],
      ["failed", null],
      ["failed", null],
    ]);
  });

  test("keeps the state and the record of redeemed codes", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn);
    await logOut({ sid: undefined });
    expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_already_used"]);
    expect(await f.records()).toMatchObject([{ outcome: "exchanged", reason: null }]);
  });

  test("keeps codes of the same subject through another profile and of another store", async () => {
    const profile = await f.addProfile({ name: "The same provider again" });
    const { latchkey, idp } = f;
    const other = await createFederation({ idp, storage: latchkey.storage, clock: latchkey.clock });
    const through = await f.signOn({ parameters: { profile } });
    const there = await other.signOn();
    await logOut({ sid: undefined });
    await logOut({ sub: undefined });
    expect([(await f.redeem(through)).status, (await other.redeem(there)).status]).toEqual([200, 200]);
  });

  test("does not stop the customer's next sign-on", async () => {
    const before = await signIn();
    await logOut();
    const after = await signIn({ ...ADA, sid: "session-2" });
    expect(after.customer).toBe(before.customer);
    expect(await isAlive(after)).toBe(true);
  });

  test("counts on another instance at once (I4)", async () => {
    const { storage, clock } = f.latchkey;
    const other = await createTestApp({ storage, clock });
    const session = await signIn();
    expect(await isAlive(session, other)).toBe(true);
    await logOut();
    expect(await isAlive(session, other)).toBe(false);
  });

  test.each(["logout+jwt", "JWT", undefined])("may have the type %s (R170)", async (typ) => {
    const session = await signIn();
    expect((await post(f.idp.signToken(good(), { typ }))).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("may be signed with a new key of the provider (R106)", async () => {
    const session = await signIn();
    f.idp.rotateKey();
    expect((await logOut()).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("is accepted for a disabled profile, too", async () => {
    const session = await signIn();
    await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: f.profileId },
      json: { data: { type: "oidc-profile", enabled: false } },
    });
    expect(await isAlive(session)).toBe(true);
    expect((await logOut()).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });
});

describe("a logout token for a profile of the members' realm", () => {
  test("ends that member's access tokens on every instance, and no other member's", async () => {
    const side = await createMembersSide(f);
    const other = await createTestApp({ storage: f.latchkey.storage, clock: f.latchkey.clock });
    const [ada, bea] = [
      await side.token("ada@shop.example", "support"),
      await side.token("bea@shop.example", "support"),
    ];
    const statuses = async () =>
      Promise.all([
        call(f.latchkey.app, getMe, { token: ada }),
        call(other.app, getMe, { token: ada }),
        call(f.latchkey.app, getMe, { token: bea }),
      ]).then((answers) => answers.map(({ status }) => status));
    expect(await statuses()).toEqual([200, 200, 200]);
    const ended = { sub: "subject of ada@shop.example", sid: undefined };
    const at = { store: f.store.store.id, realm: side.realmId, profile: side.profileId };
    // The store's revision: a higher one makes other processes read the rights again.
    const revision = async () => {
      const { db } = f.latchkey.storage;
      return (await db.selectFrom("stores").select("revision").executeTakeFirstOrThrow()).revision;
    };
    const before = await revision();
    expect((await logOut(ended, { ids: at })).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 200]);
    expect(await revision()).toBeGreaterThan(before);
  });

  test("keeps members of another profile with the same subject, and later sign-ons", async () => {
    const side = await createMembersSide(f);
    const second = await f.addProfile({ name: "Second" }, side.realmId);
    const sub = "one subject";
    const signInAs = async (email: string, profile: string) => {
      const person = { sub, email, email_verified: true };
      const answer = await side.redeem(await side.signOn(person, { profile }));
      return answer.body.access_token as string;
    };
    await side.invite("ada@shop.example", "support");
    await side.invite("bea@shop.example", "support");
    const ada = await signInAs("ada@shop.example", side.profileId);
    const bea = await signInAs("bea@shop.example", second);
    const at = { store: f.store.store.id, realm: side.realmId, profile: side.profileId };
    const token = f.idp.signToken(good({ sub, sid: undefined, exp: nowSeconds() + 600 }));
    expect((await post(token, { ids: at })).status).toBe(200);
    f.latchkey.clock.advance(300_000);
    const later = await signInAs("ada@shop.example", side.profileId);
    expect((await post(token, { ids: at })).status).toBe(200);
    const statuses = [ada, bea, later].map(async (of) => (await side.call(of, getMe)).status);
    expect(await Promise.all(statuses)).toEqual([401, 200, 200]);
  });
});
