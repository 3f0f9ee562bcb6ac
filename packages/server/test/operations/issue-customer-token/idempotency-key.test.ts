import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createApplicationKey } from "../../../src/contract/application-keys.ts";
import { issueCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { getToken } from "../../support/app.ts";
import { toRequest } from "../../support/call.ts";
import { newPkce, SHOP, type SignedOn } from "../../support/federation.ts";
import {
  answers,
  EMAIL,
  exchanges,
  f,
  isAlive,
  newCustomer,
  outcome,
  PASSWORD,
  tokens,
  withPassword,
} from "./exchange.ts";

/** Repeated requests with an Idempotency-Key. */

exchanges();

describe("Idempotency-Key (wire 8)", () => {
  const KEY = "01890000-7000-4000-8000-000000000001";
  const repeatable = (key = KEY) => ({ headers: { "idempotency-key": key } });

  const textOf = async ({ code, pkce }: SignedOn, key = KEY): Promise<string> => {
    const request = toRequest(issueCustomerToken, {
      token: f.implicit,
      json: {
        data: {
          type: "token",
          authentication_mechanism: "oidc",
          oauth_authorization_code: code,
          oauth_redirect_uri: SHOP,
          oauth_code_verifier: pkce.verifier,
        },
      },
      ...repeatable(key),
    });
    return (await f.latchkey.app.fetch(request)).text();
  };

  test("200 for the same key and body within 30 seconds: the same answer byte for byte, and one token", async () => {
    const signedOn = await f.signOn();
    const first = await textOf(signedOn);
    expect(JSON.parse(first).data.token).toBeTruthy();
    expect(await textOf(signedOn)).toBe(first);
    f.latchkey.clock.advance(29_999);
    expect(await textOf(signedOn)).toBe(first);
    expect(await tokens()).toHaveLength(1);
    expect(await f.records()).toMatchObject([{ outcome: "exchanged", reason: null }]);
  });

  test("200 for a repeated password request: one token", async () => {
    await newCustomer();
    const first = await withPassword(EMAIL, PASSWORD, repeatable());
    for (let i = 0; i < 10; i++)
      expect((await withPassword(EMAIL, PASSWORD, repeatable())).body).toEqual(first.body);
    expect(await tokens()).toHaveLength(1);
    expect((await withPassword()).body.data.id).not.toBe(first.body.data.id);
  });

  test("200 for twenty at once: all get the same token", async () => {
    const signedOn = await f.signOn();
    const all = await Promise.all(Array.from({ length: 20 }, () => textOf(signedOn)));
    expect(new Set(all).size).toBe(1);
    expect(JSON.parse(all[0] as string).data.id).toBe((await tokens())[0]?.id);
    expect(await tokens()).toHaveLength(1);
  });

  test("422 for the same key with another body; the other code still works", async () => {
    const [first, second] = [await f.signOn(), await f.signOn()];
    await f.redeem(first, {}, repeatable());
    const answer = await f.redeem(second, {}, repeatable());
    expect(outcome(answer)).toEqual([422, "idempotency_key_reused"]);
    expect(answer.body.errors[0].source).toEqual({ header: "Idempotency-Key" });
    expect((await f.redeem(second)).status).toBe(200);
  });

  test("422 for the same key with a wrong verifier; the first token stays", async () => {
    const signedOn = await f.signOn();
    const first = await f.redeem(signedOn, {}, repeatable());
    const guess = { oauth_code_verifier: newPkce().verifier };
    expect((await f.redeem(signedOn, guess, repeatable())).code).toBe("idempotency_key_reused");
    expect(await isAlive(first)).toBe(true);
  });

  test("two bodies at once with one key: one 200, one 422, and the refused code still works", async () => {
    const both = [await f.signOn(), await f.signOn()];
    const answered = await Promise.all(both.map((signedOn) => f.redeem(signedOn, {}, repeatable())));
    expect(answered.map(({ status }) => status).sort()).toEqual([200, 422]);
    const loser = both[answered.findIndex(({ status }) => status === 422)] as SignedOn;
    expect((await f.redeem(loser)).status).toBe(200);
  });

  test("400 after 31 seconds: the answer is forgotten, and the code is used", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn, {}, repeatable());
    f.latchkey.clock.advance(31_000);
    expect(outcome(await f.redeem(signedOn, {}, repeatable()))).toEqual([400, "code_already_used"]);
  });

  test("200 for a new body after 30 seconds: the key is free again", async () => {
    const first = await f.redeem(await f.signOn(), {}, repeatable());
    f.latchkey.clock.advance(30_000);
    const second = await f.redeem(await f.signOn(), {}, repeatable());
    expect(second.status).toBe(200);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });

  test("400 for a used code without the header, or with another key", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn, {}, repeatable());
    for (const request of [{}, repeatable("another"), repeatable(KEY.toUpperCase().replace("-", "_"))])
      expect(outcome(await f.redeem(signedOn, {}, request))).toEqual([400, "code_already_used"]);
  });

  test("400 for another application key or another store: answers are not shared (wire 15)", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn, {}, repeatable());
    const { body } = await f.store.call(createApplicationKey, {
      json: { data: { type: "application_key", name: "Second" } },
    });
    const { client_id: clientId, client_secret: clientSecret } = body.data;
    const key = { ...f.store.key, clientId, clientSecret };
    const second = await getToken(f.latchkey.app, { ...f.store, key }, "implicit");
    const foreign = await (await f.latchkey.createStore()).token("implicit");
    const by = (token: string) => f.redeem(signedOn, {}, { ...repeatable(), token });
    expect(outcome(await by(second))).toEqual([400, "code_already_used"]);
    expect(outcome(await by(foreign))).toEqual([400, "code_invalid"]);
  });

  test.each([
    ["an empty key", ""],
    ["a space inside", "a b"],
    ["256 characters", "a".repeat(256)],
    ["a letter outside ASCII", "schlüssel"],
    ["a control character", "a\tb"],
  ])("400 for %s; the code still works", async (_, key) => {
    const signedOn = await f.signOn();
    const answer = await f.redeem(signedOn, {}, repeatable(key));
    expect(outcome(answer)).toEqual([400, "idempotency_key_invalid"]);
    expect(answer.body.errors[0].source).toEqual({ header: "Idempotency-Key" });
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("200 for keys of 1 and of 255 characters", async () => {
    for (const key of ["~", "!".repeat(255)])
      expect((await f.redeem(await f.signOn(), {}, repeatable(key))).status).toBe(200);
  });

  test("a refusal is not remembered: the key may be used again", async () => {
    await newCustomer();
    expect((await withPassword(EMAIL, "wrong horse", repeatable())).status).toBe(400);
    const signedOn = await f.signOn();
    expect((await f.redeem({ ...signedOn, code: "x" }, {}, repeatable())).status).toBe(400);
    expect(await answers()).toEqual([]);
    expect((await withPassword(EMAIL, PASSWORD, repeatable())).status).toBe(200);
  });

  test("a wrong verifier voids the code, with a key or without", async () => {
    const signedOn = await f.signOn();
    const guess = { oauth_code_verifier: newPkce().verifier };
    expect((await f.redeem(signedOn, guess, repeatable())).code).toBe("verifier_mismatch");
    expect((await f.redeem(signedOn, {}, repeatable())).code).toBe("code_invalid");
  });

  test("the stored answer is sealed, and swept after a minute", async () => {
    const signedOn = await f.signOn();
    const { body } = await f.redeem(signedOn, {}, repeatable());
    const rows = await answers();
    expect(rows).toHaveLength(1);
    const text = JSON.stringify(rows);
    const decoded = Buffer.from(rows[0]?.sealed_answer.split(".")[1] ?? "", "base64url").toString("latin1");
    const secrets = [body.data.token, body.data.customer_id, body.data.id, signedOn.code, KEY, "eyJ"];
    for (const secret of secrets)
      expect([text.includes(secret), decoded.includes(secret)]).toEqual([false, false]);
    f.latchkey.clock.advance(61_000);
    await f.latchkey.app.tidy();
    expect(await answers()).toEqual([]);
  });

  test("the stored row of a password request has no plain digest of the request", async () => {
    await newCustomer();
    await withPassword(EMAIL, PASSWORD, repeatable());
    const body = JSON.stringify({ data: { type: "token", email: EMAIL, password: PASSWORD } });
    const digest = createHash("sha256").update(body).digest("hex");
    expect(JSON.stringify(await answers())).not.toContain(digest);
  });
});
