import { randomBytes } from "node:crypto";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { createCustomer, getCustomer } from "../../../src/contract/customers.ts";
import { jwks } from "../../../src/contract/sign-on.ts";
import { createKeyring } from "../../../src/lib/keyring.ts";
import { addNextKey, PUBLISHED_BEFORE_MS, resealSigningKeys } from "../../../src/signing-keys/key-rows.ts";
import { SIGNS_FOR_MS } from "../../../src/signing-keys/signing-keys.ts";
import { createTestApp, getToken, type TestApp } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { handClock } from "../../support/clock.ts";
import { SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import {
  bearer,
  customerSessions,
  f,
  isAlive,
  PASSWORD,
  type Session,
  signIn,
  withOptions,
} from "./sessions.ts";

/** The keys that sign customer tokens: published, rotated, sealed. */

customerSessions();

describe("signing keys", () => {
  const DAY = 86_400_000;
  const published = async (at: TestApp = f.latchkey): Promise<string[]> =>
    (await call(at.app, jwks)).body.keys
      .filter(({ alg }: { alg: string }) => alg === "ES256")
      .map(({ kid }: { kid: string }) => kid);
  const kidOf = ({ token }: Session) => decodeProtectedHeader(token).kid as string;

  async function verifies({ token }: Session): Promise<boolean> {
    const keySet = createLocalJWKSet((await call(f.latchkey.app, jwks)).body);
    const currentDate = new Date(f.latchkey.clock.now());
    return jwtVerify(token, keySet, { currentDate }).then(
      () => true,
      () => false,
    );
  }
  async function advance(ms: number): Promise<void> {
    f.latchkey.clock.advance(ms);
    await f.latchkey.app.tidy();
  }

  test("200 with public parts only, cacheable for five minutes", async () => {
    const session = await signIn();
    const { body, headers } = await call(f.latchkey.app, jwks);
    const rsa = { kty: "RSA", n: expect.any(String), e: "AQAB", use: "sig", alg: "RS256" };
    expect(body.keys.toSorted((a: { kty: string }, b: { kty: string }) => (a.kty < b.kty ? -1 : 1))).toEqual([
      {
        kty: "EC",
        crv: "P-256",
        x: expect.any(String),
        y: expect.any(String),
        kid: kidOf(session),
        use: "sig",
        alg: "ES256",
      },
      { ...rsa, kid: expect.any(String) },
    ]);
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    const { x, y } = body.keys.find(({ kty }: { kty: string }) => kty === "EC");
    const rows = await f.latchkey.storage.db.selectFrom("signing_keys").selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.sealed_private_key).not.toContain(x.slice(0, 12));
    expect(rows[0]?.sealed_private_key).not.toContain(y.slice(0, 12));
  });

  test("the next key is published ten minutes before it signs", async () => {
    const old = kidOf(await signIn());
    await advance(SIGNS_FOR_MS - DAY);
    expect(await published()).toEqual([old]);
    await advance(DAY - PUBLISHED_BEFORE_MS);
    const both = await published();
    expect(both).toHaveLength(2);
    expect(both[0]).toBe(old);
    expect(kidOf(await signIn())).toBe(old);
    // The key set may be cached for five minutes: every cache has the new key before a token is signed with it.
    await advance(300_000);
    expect(kidOf(await signIn())).toBe(old);
  });

  test("the old key is published until its last token expires (oidcc-server-rotate-keys)", async () => {
    const old = kidOf(await signIn());
    await advance(SIGNS_FOR_MS - PUBLISHED_BEFORE_MS);
    await advance(PUBLISHED_BEFORE_MS - 1000);
    const last = await signIn();
    expect(kidOf(last)).toBe(old);
    await advance(1000);
    const first = await signIn();
    expect(kidOf(first)).not.toBe(old);
    for (const session of [last, first])
      expect([await isAlive(session), await verifies(session)]).toEqual([true, true]);
    // A key set is read again after a minute: the second round sees the first round's sweep.
    for (const ms of [61_000, 61_000, DAY - 185_000, 61_000]) {
      await advance(ms);
      for (const session of [last, first])
        expect([await isAlive(session), await verifies(session)]).toEqual([true, true]);
    }
    await advance(2 * 3_600_000);
    await advance(61_000);
    expect(await published()).toEqual([kidOf(first)]);
    expect(await verifies(last)).toBe(false);
  });

  test("rotation keeps at most two keys while tokens live a day", async () => {
    const signedWith = new Set<string>();
    for (let day = 0; day < 100; day += 5) {
      signedWith.add(kidOf(await signIn()));
      expect((await published()).length).toBeLessThanOrEqual(2);
      await advance(5 * DAY);
    }
    expect(signedWith.size).toBe(4);
  });

  test("old keys are dropped also where tokens live longer than a key signs", async () => {
    await withOptions({ customerTokenSeconds: (40 * DAY) / 1000 });
    const first = await signIn();
    for (let day = 0; day < 160; day += 2) {
      if (day < 40) expect(await verifies(first)).toBe(true);
      await advance(2 * DAY);
    }
    await signIn();
    expect(await published()).not.toContain(kidOf(first));
    expect((await published()).length).toBeLessThanOrEqual(4);
  });

  test("a service that was down for several periods publishes a key first, and signs with it ten minutes later", async () => {
    const old = kidOf(await signIn());
    await advance(3 * SIGNS_FOR_MS);
    expect(await published()).toHaveLength(2);
    expect(kidOf(await signIn())).toBe(old);
    await advance(PUBLISHED_BEFORE_MS);
    const next = await signIn();
    expect(kidOf(next)).not.toBe(old);
    expect(await verifies(next)).toBe(true);
  });

  test("two instances that rotate at once make one key, and accept each other's tokens", async () => {
    const { storage, clock } = f.latchkey;
    const other = await createTestApp({ storage, clock });
    const old = kidOf(await signIn());
    expect(await published(other)).toEqual([old]);
    clock.advance(SIGNS_FOR_MS - PUBLISHED_BEFORE_MS);
    await Promise.all([f.latchkey.app.tidy(), other.app.tidy(), f.latchkey.app.tidy(), other.app.tidy()]);
    expect(await storage.db.selectFrom("signing_keys").select("kid").execute()).toHaveLength(2);
    clock.advance(PUBLISHED_BEFORE_MS);
    const session = await signIn();
    expect(kidOf(session)).not.toBe(old);
    const there = await call(other.app, getCustomer, {
      token: await bearer(),
      ids: { id: session.customer },
      headers: { "x-customer-token": session.token },
    });
    expect(there.status).toBe(200);
    expect(await published(other)).toEqual(await published());
  });

  test("an instance reads the keys again when a token names an unknown key", async () => {
    const { storage, clock, keyring } = f.latchkey;
    const other = await createTestApp({ storage, clock });
    await signIn();
    expect(await published(other)).toHaveLength(1);
    clock.advance(2000);
    const kid = await addNextKey({ storage, clock, keyring });
    const another = await createTestApp({ storage, clock });
    await storage.db
      .updateTable("signing_keys")
      .set({ signs_from: clock.now() })
      .where("kid", "=", kid)
      .execute();
    const { code, pkce } = await f.signOn();
    const json = {
      data: {
        type: "token",
        authentication_mechanism: "oidc",
        oauth_authorization_code: code,
        oauth_redirect_uri: SHOP,
        oauth_code_verifier: pkce.verifier,
      },
    };
    const { body } = await call(another.app, issueCustomerToken, { token: f.implicit, json });
    expect(decodeProtectedHeader(body.data.token).kid).toBe(kid);
    const there = await call(other.app, getCustomer, {
      token: await bearer(),
      ids: { id: body.data.customer_id },
      headers: { "x-customer-token": body.data.token },
    });
    expect(there.status).toBe(200);
  });

  test("an instance whose clock is behind can sign with the first key (T48)", async () => {
    const { storage, clock } = f.latchkey;
    await f.store.call(createCustomer, {
      json: { data: { type: "customer", name: "Ada", email: ADA.email, password: PASSWORD } },
    });
    await signIn();
    const behind = await createTestApp({ storage, clock: handClock(clock.now() - 5000) });
    const { body, status } = await call(behind.app, issueCustomerToken, {
      token: await getToken(behind.app, f.store, "implicit"),
      json: { data: { type: "token", email: ADA.email, password: PASSWORD } },
    });
    expect(status).toBe(200);
    expect(await verifies({ token: body.data.token } as Session)).toBe(true);
  });

  test("200 from memory while the database is down", async () => {
    const session = await signIn();
    const { storage, clock } = f.latchkey;
    const { db } = storage;
    clock.advance(120_000);
    storage.db = new Proxy(db, {
      get() {
        throw Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
      },
    });
    const kept = await published();
    storage.db = db;
    expect(kept).toEqual([kidOf(session)]);
  });

  test("after a change of the master key and a reseal, the same keys sign without the old master key (T53)", async () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];

    await withOptions({ keyring: createKeyring([oldKey]), databaseUrl: "sqlite::memory:" });
    const session = await signIn();
    const { storage, clock } = f.latchkey;
    const both = createKeyring([newKey, oldKey]);
    const during = await createTestApp({ storage, clock, keyring: both });
    expect(await published(during)).toEqual([kidOf(session)]);
    expect(await resealSigningKeys({ storage, keyring: both })).toEqual({ resealed: 1, kept: 1 });
    expect(await resealSigningKeys({ storage, keyring: both })).toEqual({ resealed: 0, kept: 2 });
    const after = await createTestApp({ storage, clock, keyring: createKeyring([newKey]) });
    expect(await published(after)).toEqual([kidOf(session)]);
    const there = await call(after.app, getCustomer, {
      token: await getToken(after.app, f.store, "implicit"),
      ids: { id: session.customer },
      headers: { "x-customer-token": session.token },
    });
    expect(there.status).toBe(200);
  });

  test("a reseal without the needed master key names the signing key and changes nothing (T53)", async () => {
    await signIn();
    const { storage } = f.latchkey;
    const rows = () => storage.db.selectFrom("signing_keys").selectAll().execute();
    const before = await rows();
    const stranger = createKeyring([randomBytes(32)]);
    await expect(resealSigningKeys({ storage, keyring: stranger })).rejects.toThrow(before[0]?.kid);
    expect(await rows()).toEqual(before);
  });
});
