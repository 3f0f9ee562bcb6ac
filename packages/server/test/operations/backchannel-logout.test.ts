import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { getCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { getMe } from "../../src/contract/members.ts";
import { createProfile, deleteProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { createRealm } from "../../src/contract/realms.ts";
import { backchannelLogout } from "../../src/contract/sign-on.ts";
import { createTestApp } from "../support/app.ts";
import { type Answer, type Call, call } from "../support/call.ts";
import { createFederation, type Federation, type SignedOn } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";
import { createMembersSide } from "../support/members.ts";
import { watchDatabase } from "../support/statements.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const PASSWORD = "correct horse";
const BEA = { ...ADA, sub: "bea", email: "bea@shop.example", sid: "session-bea" };

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

type Session = { token: string; customer: string };

async function signIn(person: object = ADA, profile = f.profileId): Promise<Session> {
  f.idp.person = { ...person };
  const token = await f.store.token("implicit");
  const { data } = (await f.redeem(await f.signOn({ parameters: { profile } }), {}, { token })).body;
  return { token: data.token, customer: data.customer_id };
}

const isAlive = async ({ token, customer }: Session, { app } = f.latchkey): Promise<boolean> => {
  const headers = { "x-customer-token": token };
  const answer = await call(app, getCustomer, {
    token: await f.store.token("implicit"),
    ids: { id: customer },
    headers,
  });
  return answer.status === 200;
};

const nowSeconds = () => Math.floor(f.latchkey.clock.now() / 1000);
/** What an honest provider says when one session of a subject has ended. `undefined` leaves a claim out. */
const good = (changes: object = {}) => ({
  iss: f.idp.issuer,
  aud: f.idp.clientId,
  iat: nowSeconds(),
  exp: nowSeconds() + 120,
  jti: "one",
  sub: ADA.sub,
  sid: ADA.sid,
  events: { [EVENT]: {} },
  ...changes,
});
const ids = (profile = f.profileId) => ({ store: f.store.store.id, realm: f.realmId, profile });
const post = (token: string, request: Call = {}) =>
  call(f.latchkey.app, backchannelLogout, { ids: ids(), form: { logout_token: token }, ...request });
const logOut = (changes: object = {}, request: Call = {}) => post(f.idp.signToken(good(changes)), request);
const outcome = ({ status, code }: Answer) => [status, code];

describe("a good logout token", () => {
  test("200, empty and not to be kept, also when there is nothing to end (R173, N116)", async () => {
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

  test("by subject ends all that the subject has through that profile, whichever session (N116)", async () => {
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

  /** The subject's session by that name, its session by another name, one that the provider never named; and Bea's two. */
  const SESSIONS: Record<string, object> = {
    named: ADA,
    "of another name": { ...ADA, sid: "session-2" },
    unnamed: { ...ADA, sid: undefined },
    "Bea's": BEA,
    "Bea's unnamed": { ...BEA, sid: undefined },
  };

  test.each<[string, object, string[]]>([
    [
      "subject and session: that session, and what the subject has without a name, which may be it",
      {},
      ["named", "unnamed"],
    ],
    ["a session alone: that session; one without a name is never meant", { sub: undefined }, ["named"]],
    [
      "a subject alone: all of the subject's, with a name or without",
      { sid: undefined },
      ["named", "of another name", "unnamed"],
    ],
  ])("ends by %s", async (_, changes, ended) => {
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
    // Tokens and codes that were not redeemed yet are ended alike.
    const expected = names.map((name) => [name, [ended.includes(name), ended.includes(name)]]);
    expect(gone).toEqual(Object.fromEntries(expected));
  });

  test("a session's name together with another subject's ends nothing", async () => {
    const session = await signIn();
    expect((await logOut({ sub: "bea" })).status).toBe(200);
    expect((await logOut({ sid: "session-2" })).status).toBe(200);
    expect(await isAlive(session)).toBe(true);
  });

  test("subjects and sessions are compared to the letter (R107)", async () => {
    const session = await signIn();
    await logOut({ sub: "Subject", sid: undefined });
    await logOut({ sub: undefined, sid: "Session-1" });
    await logOut({ sub: undefined, sid: "session-" });
    await logOut({ sub: undefined, sid: "session-%" });
    expect(await isAlive(session)).toBe(true);
  });

  test("leaves the same customer's password tokens alone: they are not of that session", async () => {
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
    ["left behind: theirs lives on", false],
    ["carried over: theirs ends, too", true],
  ])("of a provider that the profile was moved to, its people %s", async (_, isCarried) => {
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

  test("leaves what came through another profile, and another store's, alone: also of the same provider (A33)", async () => {
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
  ])(
    "%s voids a code that was given and not redeemed yet; another person's code works (N116)",
    async (_, changes) => {
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
    },
  );

  test("leaves what became of codes that were redeemed before: a second use is still told as such, and their records stand", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn);
    await logOut({ sid: undefined });
    expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_already_used"]);
    expect(await f.records()).toMatchObject([{ outcome: "exchanged", reason: null }]);
  });

  test("leaves codes of the same subject through another profile, and of another store, alone", async () => {
    const profile = await f.addProfile({ name: "The same provider again" });
    const { latchkey, idp } = f;
    const other = await createFederation({ idp, storage: latchkey.storage, clock: latchkey.clock });
    const through = await f.signOn({ parameters: { profile } });
    const there = await other.signOn();
    await logOut({ sid: undefined });
    await logOut({ sub: undefined });
    expect([(await f.redeem(through)).status, (await other.redeem(there)).status]).toEqual([200, 200]);
  });

  test("a customer who signs in again afterwards is the same, and stays signed in", async () => {
    const before = await signIn();
    await logOut();
    const after = await signIn({ ...ADA, sid: "session-2" });
    expect(after.customer).toBe(before.customer);
    expect(await isAlive(after)).toBe(true);
  });

  test("is dead on another instance at once (I4)", async () => {
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

  test("may be signed with a key that is new to us (R106)", async () => {
    const session = await signIn();
    f.idp.rotateKey();
    expect((await logOut()).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("ends sessions for a profile that is disabled as well: ending is always allowed", async () => {
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

describe("while the provider is asked about a shopper who came back", () => {
  /** The session ends after the shopper came back, and before the provider says who they are. */
  function endMeanwhile(changes: object): void {
    f.idp.hooks.answer = {
      async "/token"() {
        f.idp.hooks.answer = {};
        expect((await logOut(changes)).status).toBe(200);
        return "honest";
      },
    };
  }

  test.each<[string, object]>([
    ["by session", { sub: undefined }],
    ["by subject", { sid: undefined }],
    ["by both", {}],
  ])("%s: the code is worth nothing, and the record says why (N116)", async (_, changes) => {
    endMeanwhile(changes);
    const answer = await f.redeem(await f.signOn());
    expect(outcome(answer)).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("session_ended");
    expect(await f.records()).toMatchObject([{ outcome: "failed", reason: "session_ended" }]);
    expect(await f.latchkey.storage.db.selectFrom("customers").selectAll().execute()).toEqual([]);
  });

  test("a shopper whose session the provider never named may be the one that it ended", async () => {
    f.idp.person = { ...ADA, sid: undefined };
    endMeanwhile({});
    expect(outcome(await f.redeem(await f.signOn()))).toEqual([400, "sign_on_refused"]);
  });

  test.each<[string, object]>([
    ["another session of the subject", { sid: "session-2" }],
    ["another session alone", { sub: undefined, sid: "session-2" }],
    ["another subject", { sub: "bea", sid: undefined }],
    ["another subject's session of the same name", { sub: "bea" }],
  ])("%s ends: the code is good", async (_, changes) => {
    endMeanwhile(changes);
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("whoever comes back after the session has ended has another one: also when the logout token is sent again", async () => {
    const made = f.idp.signToken(good({ sid: undefined, exp: nowSeconds() + 600 }));
    await post(made);
    f.latchkey.clock.advance(1000);
    const next = await f.signOn();
    expect((await f.redeem(next)).status).toBe(200);
    f.latchkey.clock.advance(120_000);
    const later = await f.signOn();
    await post(made);
    expect((await f.redeem(later)).status).toBe(200);
  });

  test("a member gets no access token", async () => {
    const side = await createMembersSide(f);
    const at = { store: f.store.store.id, realm: side.realmId, profile: side.profileId };
    const ended = { sub: "subject of ada@shop.example", sid: undefined };
    f.idp.hooks.answer = {
      async "/token"() {
        f.idp.hooks.answer = {};
        expect((await logOut(ended, { ids: at })).status).toBe(200);
        return "honest";
      },
    };
    await side.invite("ada@shop.example", "support");
    const signedOn = await side.signOn({ sub: "subject of ada@shop.example", email: "ada@shop.example" });
    const refused = await side.redeem(signedOn);
    expect(outcome(refused)).toEqual([400, "sign_on_refused"]);
    expect((await f.records())[0]).toMatchObject({ outcome: "failed", reason: "session_ended" });
  });

  test("however long codes live, the session is remembered for longer", async () => {
    await f.close();
    f = await createFederation({ codeSeconds: 600 });
    f.idp.hooks.answer = {
      async "/token"() {
        f.idp.hooks.answer = {};
        expect((await logOut()).status).toBe(200);
        // So long the provider takes: the code is as much younger than the end of the session.
        f.latchkey.clock.advance(10_000);
        return "honest";
      },
    };
    const signedOn = await f.signOn();
    f.latchkey.clock.advance(595_000);
    await f.latchkey.app.tidy();
    const token = await f.store.token("implicit");
    expect(outcome(await f.redeem(signedOn, {}, { token }))).toEqual([400, "sign_on_refused"]);
  });

  test("is forgotten with the attempts of before", async () => {
    const ended = () => f.latchkey.storage.db.selectFrom("ended_idp_sessions").selectAll().execute();
    await logOut();
    await logOut({ jti: "two" });
    expect(await ended()).toHaveLength(1);
    f.latchkey.clock.advance(4_140_000);
    await f.latchkey.app.tidy();
    expect(await ended()).toHaveLength(1);
    f.latchkey.clock.advance(60_000);
    await f.latchkey.app.tidy();
    expect(await ended()).toEqual([]);
  });
});

describe("for a profile of the store's members", () => {
  test("ends the access tokens of that member, here and on another instance, and nobody else's", async () => {
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
    // What tells another process that it must ask anew.
    const revision = async () => {
      const { db } = f.latchkey.storage;
      return (await db.selectFrom("stores").select("revision").executeTakeFirstOrThrow()).revision;
    };
    const before = await revision();
    expect((await logOut(ended, { ids: at })).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 200]);
    expect(await revision()).toBeGreaterThan(before);
  });

  test("leaves alone whom another profile knows by the same subject, and who has signed in long after the token was made", async () => {
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

describe("sent again", () => {
  test("200 and nothing more happens: a session that began since then lives on (N115, R172)", async () => {
    const token = f.idp.signToken(good());
    const session = await signIn();
    await post(token);
    expect(await isAlive(session)).toBe(false);
    const next = await signIn({ ...ADA, sid: "session-2" });
    for (let i = 0; i < 3; i++) expect((await post(token)).status).toBe(200);
    expect(await isAlive(next)).toBe(true);
  });

  test("a token that names the subject alone ends nothing that began long after it was made (N115)", async () => {
    const token = f.idp.signToken(good({ sid: undefined, exp: nowSeconds() + 600 }));
    await signIn();
    await post(token);
    f.latchkey.clock.advance(300_000);
    const next = await signIn({ ...ADA, sid: "session-2" });
    await post(token);
    expect(await isAlive(next)).toBe(true);
  });

  test("an older token that comes after a newer one does not undo what that has ended", async () => {
    const older = f.idp.signToken(good({ exp: nowSeconds() + 600 }));
    f.latchkey.clock.advance(300_000);
    const ended = () => f.latchkey.storage.db.selectFrom("ended_idp_sessions").select("ended_at").execute();
    await logOut();
    const before = await ended();
    await post(older);
    expect(await ended()).toEqual(before);
  });

  test("a code that was issued long after it was made is still good", async () => {
    const made = f.idp.signToken(good({ exp: nowSeconds() + 600 }));
    expect((await post(made)).status).toBe(200);
    f.latchkey.clock.advance(300_000);
    const later = await f.signOn();
    expect((await post(made)).status).toBe(200);
    const token = await f.store.token("implicit");
    expect((await f.redeem(later, {}, { token })).status).toBe(200);
  });

  test("400 once it is too old: nobody can keep it for later (N115)", async () => {
    const token = f.idp.signToken(good());
    f.latchkey.clock.advance(3_600_000);
    const session = await signIn();
    expect(outcome(await post(token))).toEqual([400, "logout_token_invalid"]);
    expect(await isAlive(session)).toBe(true);
  });
});

describe("400, and the session lives", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const unsigned = (alg: string) => `${part({ alg })}.${part(good())}.`;
  const withMac = (secret: string) => {
    const text = `${part({ alg: "HS256" })}.${part(good())}`;
    return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  };
  const byStranger = (header: object = {}) => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const text = `${part({ alg: "ES256", kid: "key-1", ...header })}.${part(good())}`;
    const bytes = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
    return `${text}.${bytes.toString("base64url")}`;
  };
  const withClaims = (changes: object) => f.idp.signToken(good(changes));

  test.each<[string, object]>([
    ["unknown keys", { kid: "unknown" }],
    ["signatures that do not fit", {}],
  ])(
    "made-up tokens with %s make us read the keys once in ten seconds, and keep no sign-on from finding a new key (A45, N54)",
    async (_, header) => {
      await signIn();
      f.idp.journal.length = 0;
      for (let i = 0; i < 3; i++)
        expect(outcome(await post(byStranger(header)))).toEqual([400, "logout_token_invalid"]);
      expect(f.idp.asked("/keys")).toBe(1);
      f.idp.rotateKey();
      expect(await isAlive(await signIn())).toBe(true);
      expect(f.idp.asked("/keys")).toBe(2);
    },
  );

  test.each<[string, string, () => string]>([
    ["no signature (N111, A34)", "alg", () => unsigned("none")],
    ["no signature, spelled otherwise (N111)", "alg", () => unsigned("NONE")],
    ["a cut signature (R174)", "signature", () => withClaims({}).replace(/[^.]*$/, "AAAA")],
    ["the client secret as key (N111)", "alg", () => withMac("first secret")],
    ["a stranger's key (R174)", "signature", () => byStranger()],
    ["a stranger's unknown key (R174)", "key", () => byStranger({ kid: "unknown" })],
    ["another type", "malformed", () => f.idp.signToken(good(), { typ: "at+jwt" })],
    ["another issuer (N112)", "iss", () => withClaims({ iss: "https://evil.example" })],
    ["no issuer (N112)", "iss", () => withClaims({ iss: undefined })],
    ["another audience (N112)", "aud", () => withClaims({ aud: "stranger" })],
    ["a second audience (N112)", "aud", () => withClaims({ aud: ["the-store", "stranger"] })],
    ["no audience (N112)", "aud", () => withClaims({ aud: undefined })],
    ["no events (N113)", "events", () => withClaims({ events: undefined })],
    ["another event (N113)", "events", () => withClaims({ events: { "urn:other": {} } })],
    ["a text as event (N113)", "events", () => withClaims({ events: { [EVENT]: "yes" } })],
    ["a nonce (N114)", "nonce", () => withClaims({ nonce: "n" })],
    ["an old one (N115)", "iat", () => withClaims({ iat: nowSeconds() - 601 })],
    ["one from the future (N115)", "iat", () => withClaims({ iat: nowSeconds() + 61 })],
    ["one that has expired (R171)", "exp", () => withClaims({ exp: nowSeconds() - 61 })],
    [
      "one that never expires, and is old",
      "iat",
      () => withClaims({ exp: undefined, iat: nowSeconds() - 601 }),
    ],
    ["neither subject nor session (N115)", "sub", () => withClaims({ sub: undefined, sid: undefined })],
    ["an empty subject (N115)", "sub", () => withClaims({ sub: "", sid: undefined })],
    ["an empty session (N115)", "sid", () => withClaims({ sid: "", sub: undefined })],
    ["no name of its own", "jti", () => withClaims({ jti: undefined })],
    [
      "an ID token (N115)",
      "events",
      () => withClaims({ events: undefined, jti: undefined, nonce: "n", email: ADA.email }),
    ],
    ["what is no token", "malformed", () => "x"],
    ["an encrypted one", "encrypted", () => "a.b.c.d.e"],
  ])("%s", async (_, reason, make) => {
    const session = await signIn();
    const code = await f.signOn();
    const answer = await post(make());
    expect(outcome(answer)).toEqual([400, "logout_token_invalid"]);
    expect(answer.body.errors[0].meta).toEqual({ reason: `logout_token.${reason}` });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await isAlive(session)).toBe(true);
    expect((await f.redeem(code)).status).toBe(200);
  });

  test("a customer token or an access token of ours instead of a logout token (R58)", async () => {
    const session = await signIn();
    for (const token of [session.token, f.implicit])
      expect(outcome(await post(token))).toEqual([400, "logout_token_invalid"]);
    expect(await isAlive(session)).toBe(true);
  });

  test("a token for one profile, sent to another with another client id (A21)", async () => {
    const profile = await f.addProfile({ client_id: "another-client" });
    const session = await signIn(ADA, profile);
    const answer = await logOut({ sid: undefined }, { ids: ids(profile) });
    expect(outcome(answer)).toEqual([400, "logout_token_invalid"]);
    expect(answer.body.errors[0].meta.reason).toBe("logout_token.aud");
    expect(await isAlive(session)).toBe(true);
  });

  test.each<[string, Call, number, string]>([
    ["no token", { form: {} }, 400, "member_missing"],
    ["an empty token", { form: { logout_token: "" } }, 400, "member_invalid"],
    [
      "another type of body",
      { raw: "x", headers: { "content-type": "text/plain" } },
      415,
      "media_type_unsupported",
    ],
  ])("or another status, for %s", async (_, request, status, code) => {
    const session = await signIn();
    const answer = await call(f.latchkey.app, backchannelLogout, { ids: ids(), ...request });
    expect(outcome(answer)).toEqual([status, code]);
    expect(await isAlive(session)).toBe(true);
  });

  test("a token twice in one form", async () => {
    const session = await signIn();
    const token = f.idp.signToken(good());
    const answer = await call(f.latchkey.app, backchannelLogout, {
      ids: ids(),
      raw: `logout_token=${token}&logout_token=${token}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(outcome(answer)).toEqual([400, "member_invalid"]);
    expect(await isAlive(session)).toBe(true);
  });
});

describe("where it is sent", () => {
  test("404 for a profile that nobody has, of another realm or store; nothing ends", async () => {
    const session = await signIn();
    const stranger = await f.latchkey.createStore();
    const realm = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "Another" } },
    });
    for (const of of [
      ids(UNKNOWN),
      ids("x"),
      { ...ids(), realm: realm.body.data.id },
      { ...ids(), realm: UNKNOWN },
      { ...ids(), store: stranger.store.id },
    ])
      expect((await logOut({}, { ids: of })).status).toBe(404);
    expect(await isAlive(session)).toBe(true);
  });

  test("404 for a profile that was deleted", async () => {
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
    expect(outcome(await logOut())).toEqual([404, "profile_not_found"]);
  });

  test("405 for GET: a link must not log anybody out", async () => {
    const session = await signIn();
    const path = `/sign-on/stores/${f.store.store.id}/realms/${f.realmId}/profiles/${f.profileId}/backchannel-logout`;
    const query = `logout_token=${f.idp.signToken(good())}`;
    const answer = await f.latchkey.app.fetch(new Request(`http://internal${path}?${query}`));
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await isAlive(session)).toBe(true);
  });

  test("503 with Retry-After where no document was ever accepted; nobody is asked for one, also after a rename", async () => {
    f.idp.hooks.answer = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    const made = await f.store.call(createProfile, {
      ids: { realm: f.realmId },
      json: {
        data: {
          type: "oidc-profile",
          name: "Down",
          discovery_url: f.idp.discoveryUrl,
          client_id: "down",
          client_secret: "s",
          enabled: false,
        },
      },
    });
    const { id } = made.body.data;
    f.idp.hooks = {};
    f.idp.journal.length = 0;
    for (let n = 0; n < 10; n++) {
      const data = { type: "oidc-profile", name: `Renamed ${n}` };
      await f.store.call(updateProfile, { ids: { realm: f.realmId, id }, json: { data } });
      const answer = await logOut({}, { ids: ids(id) });
      expect(outcome(answer)).toEqual([503, "idp_unavailable"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(f.idp.journal).toEqual([]);
  });

  test("503 with Retry-After where the keys cannot be read: nobody can say that the token is not the provider's, and a record tells of it", async () => {
    const session = await signIn();
    f.idp.rotateKey();
    f.idp.hooks.answer = { "/keys": (_, response) => void response.writeHead(503).end() };
    const away = await logOut();
    expect(outcome(away)).toEqual([503, "idp_unavailable"]);
    expect(away.headers.get("retry-after")).toBe("10");
    expect(await isAlive(session)).toBe(true);
    const reasons = (await f.records()).map(({ reason }) => reason);
    expect(reasons).toContain("logout_token.keys_unread");
    f.idp.hooks = {};
    f.latchkey.clock.advance(10_000);
    expect((await logOut()).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("503 when the database is away, never a 200: the provider must not think it is done (R137)", async () => {
    const session = await signIn();
    const { storage } = f.latchkey;
    const { db } = storage;
    let statements = 0;
    for (let failing = 0; failing < 4; failing++) {
      storage.db = watchDatabase(db, () => {
        if (statements++ === failing) throw Object.assign(new Error("gone"), { code: "ECONNRESET" });
      });
      const answer = await logOut();
      storage.db = db;
      statements = 0;
      expect([failing, ...outcome(answer)]).toEqual([failing, 503, "storage_unavailable"]);
      expect(await isAlive(session)).toBe(true);
    }
    expect((await logOut()).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("no log line holds the token, the subject or the session", async () => {
    const token = f.idp.signToken(good({ sub: "marker-subject", sid: "marker-session" }));
    await post(token);
    await post(`${token}x`);
    const text = JSON.stringify(f.latchkey.logLines);
    for (const secret of [token, "marker-subject", "marker-session"]) expect(text).not.toContain(secret);
  });
});
