import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deleteApplicationKey, rotateApplicationKey } from "../../src/contract/application-keys.ts";
import { listEvents } from "../../src/contract/events.ts";
import { createRealm } from "../../src/contract/realms.ts";
import { revokeAtRealm } from "../../src/contract/sign-on.ts";
import { type Call, call } from "../support/call.ts";
import { engines } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { askUserinfo, basic, makeKey, redeemAtRealm, type StandardKey } from "../support/standard-client.ts";

/** RFC 7009 at the realm: a client revokes customer tokens that were issued to it. */

describe.each(engines.filter(({ isHere }) => isHere))("revocation at the realm, on $name", (engine) => {
  let f: Federation;
  let key: StandardKey;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const database = await engine.create();
    drop = database.drop;
    f = await createFederation({ databaseUrl: database.url });
    key = await makeKey(f);
  });
  afterAll(async () => {
    await f.close();
    await drop();
  });

  const ids = () => ({ store: f.store.store.id, realm: f.realmId });
  const revoke = (form: Record<string, string>, request: Call = {}) =>
    call(f.latchkey.app, revokeAtRealm, { ids: ids(), form, ...request });
  const isAlive = async (token: string) => (await askUserinfo(f, token)).status === 200;

  async function tokenOf(client: "public" | StandardKey): Promise<string> {
    const client_id = client === "public" ? "customers" : client.clientId;
    const signedOn = await f.signOn({ parameters: { client_id } });
    const request = client === "public" ? {} : { headers: basic(client) };
    const proof = { client_id, code_verifier: signedOn.pkce.verifier };
    return (await redeemAtRealm(f, signedOn, proof, request)).body.access_token;
  }

  test("200 for the public client: the token ends at once, other tokens stay (R136)", async () => {
    const [token, other] = [await tokenOf("public"), await tokenOf("public")];
    for (let again = 0; again < 2; again++)
      expect((await revoke({ token, token_type_hint: "access_token", client_id: "customers" })).status).toBe(
        200,
      );
    expect([await isAlive(token), await isAlive(other)]).toEqual([false, true]);
  });

  test("200 for an application key, by Basic and in the form, in any role; the event has the key as actor", async () => {
    const inForm = { client_id: key.clientId, client_secret: key.clientSecret };
    for (const [more, request] of [
      [{}, { headers: basic(key) }],
      [inForm, {}],
    ] as const) {
      const token = await tokenOf(key);
      expect((await revoke({ token, ...more }, request)).status).toBe(200);
      expect(await isAlive(token)).toBe(false);
    }
    await f.latchkey.app.tidy();
    const { data } = (await f.store.call(listEvents, { query: "types=customer_token.revoked" })).body;
    expect(data.at(-1).data.actor).toMatchObject({ type: "application_key", id: key.id });
  });

  test("200 for an unknown token or another client's, which stays (R135)", async () => {
    const [ofPublic, ofKey] = [await tokenOf("public"), await tokenOf(key)];
    const other = await makeKey(f, "standard");
    const answers = [
      await revoke({ token: ofKey, client_id: "customers" }),
      await revoke({ token: ofPublic }, { headers: basic(key) }),
      await revoke({ token: ofKey }, { headers: basic(other) }),
      await revoke({ token: f.implicit, client_id: "customers" }),
      await revoke({ token: "nonsense", client_id: "customers" }),
    ];
    for (const { status, body } of answers) expect([status, body]).toEqual([200, {}]);
    expect([await isAlive(ofPublic), await isAlive(ofKey)]).toEqual([true, true]);
  });

  test("200 at another realm, and the token stays; 404 at an unknown realm", async () => {
    const token = await tokenOf("public");
    const data = { type: "authentication-realm", name: "Other" };
    const { body } = await f.store.call(createRealm, { json: { data } });
    const form = { token, client_id: "customers" };
    expect((await revoke(form, { ids: { ...ids(), realm: body.data.id } })).status).toBe(200);
    expect(await isAlive(token)).toBe(true);
    expect((await revoke(form, { ids: { ...ids(), realm: f.store.store.id } })).code).toBe("realm_not_found");
  });

  test("401 or 400 without a client; the token stays", async () => {
    const token = await tokenOf(key);
    const refusals = [
      await revoke({ token }),
      await revoke({ token, client_id: key.clientId }),
      await revoke({ token, client_id: "stranger" }),
      await revoke({ token, client_id: key.clientId, client_secret: "lksk_" }),
      await revoke({ token, client_secret: key.clientSecret }, { headers: basic(key) }),
      await revoke({ token }, { query: `client_id=${key.clientId}` }),
    ];
    expect(refusals.map(({ status, code }) => [status, code])).toEqual([
      [401, "client_credentials_missing"],
      [401, "client_credentials_missing"],
      [400, "sign_on_client_unknown"],
      [401, "client_secret_mistyped"],
      [400, "client_authenticated_twice"],
      [400, "credentials_in_url"],
    ]);
    expect(await isAlive(token)).toBe(true);
  });

  test("401 for a deleted key, and for an expired old secret", async () => {
    const token = await tokenOf(key);
    const [rotated, gone] = [await makeKey(f), await makeKey(f)];
    await f.store.call(rotateApplicationKey, {
      ids: { id: rotated.id },
      json: { data: { type: "application_key", grace_seconds: 0 } },
    });
    await f.store.call(deleteApplicationKey, { ids: { id: gone.id } });
    f.latchkey.clock.advance(1000);
    const codes = [
      (await revoke({ token }, { headers: basic(rotated) })).code,
      (await revoke({ token }, { headers: basic(gone) })).code,
    ];
    expect(codes).toEqual(["secret_rotated", "client_unknown"]);
    expect(await isAlive(token)).toBe(true);
  });

  test("any origin may call it, also with a preflight", async () => {
    const headers = { origin: "https://shop.example" };
    const answer = await revoke({ token: "x", client_id: "customers" }, { headers });
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    const preflight = new Request(`${f.issuer}/revoke`, { method: "OPTIONS", headers });
    const { status, headers: allowed } = await f.latchkey.app.fetch(preflight);
    expect([status, allowed.get("access-control-allow-origin")]).toEqual([204, "*"]);
  });
});

test("revocation at the realm › 503 and never 200 while the database fails (R137)", async () => {
  const f = await createFederation();
  const signedOn = await f.signOn();
  const proof = { client_id: "customers", code_verifier: signedOn.pkce.verifier };
  const token = (await redeemAtRealm(f, signedOn, proof)).body.access_token;
  const { transact } = f.latchkey.storage;
  f.latchkey.storage.transact = () =>
    Promise.reject(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));
  const answer = await call(f.latchkey.app, revokeAtRealm, {
    ids: { store: f.store.store.id, realm: f.realmId },
    form: { token, client_id: "customers" },
  });
  f.latchkey.storage.transact = transact;
  expect([answer.status, answer.code]).toEqual([503, "storage_unavailable"]);
  expect((await askUserinfo(f, token)).status).toBe(200);
  await f.close();
});
