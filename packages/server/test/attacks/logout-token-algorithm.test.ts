import { generateKeyPairSync, sign } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getCustomer } from "../../src/contract/customers.ts";
import { getProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { backchannelLogout } from "../../src/contract/sign-on.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";

/**
 * A logout token that the provider signs with another key and another algorithm than its ID tokens
 * (Back-Channel Logout 2.6).
 */

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsaJwk = { ...rsa.publicKey.export({ format: "jwk" }), kid: "rsa", use: "sig", alg: "RS256" };

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const signRs256 = (claims: object): string => {
  const signed = `${encode({ alg: "RS256", kid: "rsa" })}.${encode(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), rsa.privateKey).toString("base64url")}`;
};

let idp: HostileIdp;
let f: Federation;
let database: TestDatabase | undefined;

async function begin(databaseUrl: string): Promise<void> {
  idp = await startHostileIdp();
  list("RS256", "ES256");
  idp.hooks.keys = ({ keys }) => ({ keys: [...keys, rsaJwk] });
  f = await createFederation({ idp, databaseUrl, allowedOrigins: [idp.origin] });
}

const list = (...algorithms: string[]) => {
  idp.hooks.discovery = (document) => ({ ...document, id_token_signing_alg_values_supported: algorithms });
};

const good = () => {
  const seconds = Math.floor(f.latchkey.clock.now() / 1000);
  return {
    iss: idp.issuer,
    aud: idp.clientId,
    iat: seconds,
    exp: seconds + 120,
    jti: "one",
    sub: ADA.sub,
    sid: ADA.sid,
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  };
};
const SIGNERS = { ES256: (claims: object) => idp.signToken(claims), RS256: signRs256 };
type Algorithm = keyof typeof SIGNERS;

/** The provider signs its next ID tokens with this algorithm. */
const signIdTokensWith = (algorithm: Algorithm) => {
  idp.hooks.token = (answer) => {
    if (algorithm === "ES256") return answer;
    const claims = JSON.parse(
      Buffer.from(String(answer.id_token).split(".")[1] ?? "", "base64url").toString(),
    );
    return { ...answer, id_token: signRs256(claims) };
  };
};

type Session = { token: string; customer: string };
async function signIn(): Promise<Session> {
  const { data } = (await f.redeem(await f.signOn())).body;
  return { token: data.token, customer: data.customer_id };
}
const isAlive = async ({ token, customer }: Session): Promise<boolean> => {
  const headers = { "x-customer-token": token };
  const answer = await call(f.latchkey.app, getCustomer, {
    token: f.implicit,
    ids: { id: customer },
    headers,
  });
  return answer.status === 200;
};
const logOut = (algorithm: Algorithm) =>
  call(f.latchkey.app, backchannelLogout, {
    ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
    form: { logout_token: SIGNERS[algorithm](good()) },
  });
const REFUSED = { status: 400, code: "logout_token_invalid" };
const meta = async () =>
  (await f.store.call(getProfile, { ids: { realm: f.realmId, id: f.profileId } })).body.data.meta;

describe.each(engines)("the algorithm of a logout token, on $name", (engine) => {
  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    await begin(database.url);
  });
  afterEach(async () => {
    await f?.close();
    await idp?.close();
    await database?.drop();
  });

  test.each<[Algorithm, Algorithm]>([
    ["ES256", "RS256"],
    ["RS256", "ES256"],
  ])("400 for %s when ID tokens have %s; the session stays (N111)", async (other, own) => {
    signIdTokensWith(own);
    const session = await signIn();
    expect(await logOut(other)).toMatchObject(REFUSED);
    expect(await isAlive(session)).toBe(true);
    expect((await logOut(own)).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("a refusal shows on the profile, with both algorithms in the record", async () => {
    await signIn();
    await logOut("RS256");
    const record = (await f.records()).find(({ outcome }) => outcome === "logout_refused");
    expect(record.checks.at(-1)).toEqual({
      check: "logout_token.alg",
      passed: false,
      expected: "ES256",
      found: "RS256",
    });
    expect((await meta()).refused_logout).toMatchObject({
      reason: "logout_token.alg",
      means: expect.stringContaining("another algorithm than this provider's ID tokens"),
    });
  });

  test("after a change, the new one counts from the first sign-on, and the old one is refused", async () => {
    signIdTokensWith("RS256");
    const before = await signIn();
    signIdTokensWith("ES256");
    expect(await logOut("ES256")).toMatchObject(REFUSED);
    const after = await signIn();
    expect(await logOut("RS256")).toMatchObject(REFUSED);
    expect([await isAlive(before), await isAlive(after)]).toEqual([true, true]);
    expect((await logOut("ES256")).status).toBe(200);
    expect([await isAlive(before), await isAlive(after)]).toEqual([false, false]);
  });

  test("any listed one counts once the provider no longer lists the one of its ID tokens", async () => {
    signIdTokensWith("RS256");
    const session = await signIn();
    list("ES256");
    f.latchkey.clock.advance(5 * 60_000);
    expect(await logOut("RS256")).toMatchObject(REFUSED);
    expect((await logOut("ES256")).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("before any sign-on RS256 counts if it is listed, else any listed one", async () => {
    expect(await logOut("ES256")).toMatchObject(REFUSED);
    expect((await logOut("RS256")).status).toBe(200);
    list("ES256");
    f.latchkey.clock.advance(5 * 60_000);
    expect((await logOut("ES256")).status).toBe(200);
  });

  test("a refused sign-on does not change it", async () => {
    signIdTokensWith("RS256");
    const session = await signIn();
    signIdTokensWith("ES256");
    idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    expect((await f.signOn()).error).toBe("server_error");
    expect(await logOut("ES256")).toMatchObject(REFUSED);
    expect(await isAlive(session)).toBe(true);
  });

  test("a new client id resets it", async () => {
    await signIn();
    const data = { type: "oidc-profile", client_id: "another", client_secret: "first secret" };
    await f.store.call(updateProfile, { ids: { realm: f.realmId, id: f.profileId }, json: { data } });
    idp.clientId = "another";
    expect(await logOut("ES256")).toMatchObject(REFUSED);
    expect((await logOut("RS256")).status).toBe(200);
  });

  test("is taken from the records of sign-ons before it was noted", async () => {
    const session = await signIn();
    await f.latchkey.app.tidy();
    await f.latchkey.storage.db.updateTable("oidc_profiles").set({ id_token_alg: null }).execute();
    expect(await logOut("RS256")).toMatchObject(REFUSED);
    expect((await logOut("ES256")).status).toBe(200);
    expect(await isAlive(session)).toBe(false);
  });

  test("is written at the first sign-on and at a change only", async () => {
    const noted = async () => {
      const row = await f.latchkey.storage.db
        .selectFrom("stores")
        .innerJoin("oidc_profiles", "oidc_profiles.store_id", "stores.id")
        .select(["stores.revision", "oidc_profiles.id_token_alg", "oidc_profiles.updated_at"])
        .executeTakeFirstOrThrow();
      return row;
    };
    const before = await noted();
    await signIn();
    const first = await noted();
    expect(first).toMatchObject({ id_token_alg: "ES256", updated_at: before.updated_at });
    await signIn();
    expect(await noted()).toEqual(first);
  });
});
