import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import { deleteApplicationKey, updateApplicationKey } from "../../src/contract/application-keys.ts";
import { type SignOnReason, signOnReasonEntry } from "../../src/contract/sign-on-reasons.ts";
import { type Answer, call } from "../support/call.ts";
import { engines } from "../support/engines.ts";
import { createFederation, type Federation, newPkce } from "../support/federation.ts";
import {
  askUserinfo,
  basic,
  type Changes,
  makeKey,
  redeemAtRealm,
  type StandardKey,
  withoutChallenge,
} from "../support/standard-client.ts";

/** Codes without a PKCE challenge: for `standard` keys only, with a nonce only, for that key only (RFC 9700 2.1.1). */

describe.each(engines.filter(({ isHere }) => isHere))("a code without a challenge on $name", (engine) => {
  let f: Federation;
  let standard: StandardKey;
  let usual: StandardKey;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const database = await engine.create();
    drop = database.drop;
    f = await createFederation({ databaseUrl: database.url });
    standard = await makeKey(f, "standard");
    usual = await makeKey(f);
  });
  afterAll(async () => {
    await f.close();
    await drop();
  });

  const begin = (parameters: Changes) => f.signOn({ parameters });
  const reasonOf = (answer: Answer) =>
    new URL(answer.headers.get("location") ?? "").searchParams.get("reason");
  const outcome = ({ status, code, body }: Answer) => [status, code, body?.error];
  const REFUSED = [400, "verifier_mismatch", "invalid_grant"];
  const change = (id: string, openid_client: string) =>
    f.store.call(updateApplicationKey, {
      ids: { id },
      json: { data: { type: "application_key", name: "A program", openid_client } },
    });

  test("200 without a verifier for a `standard` key that sent a nonce; the ID token has the nonce", async () => {
    const signedOn = await begin(withoutChallenge(standard));
    const { status, body } = await redeemAtRealm(f, signedOn, {}, { headers: basic(standard) });
    expect(status).toBe(200);
    expect((await askUserinfo(f, body.access_token)).status).toBe(200);
  });

  /** The client, and its parameters at authorize. */
  const refused: [string, SignOnReason, () => Changes][] = [
    [
      "the public client with a nonce",
      "challenge_missing",
      () => withoutChallenge({ clientId: "customers" }),
    ],
    ["a usual key with a nonce", "challenge_missing", () => withoutChallenge(usual)],
    [
      "a `standard` key without a nonce",
      "challenge_missing",
      () => withoutChallenge(standard, { nonce: undefined }),
    ],
    [
      "a `standard` key with an empty nonce",
      "challenge_missing",
      () => withoutChallenge(standard, { nonce: "" }),
    ],
    [
      "a `standard` key with a method alone",
      "challenge_missing",
      () => withoutChallenge(standard, { code_challenge_method: "S256" }),
    ],
    [
      "a `standard` key with a challenge alone",
      "challenge_method_unsupported",
      () => withoutChallenge(standard, { code_challenge: newPkce().challenge }),
    ],
    [
      "a `standard` key with the method plain",
      "challenge_method_unsupported",
      () =>
        withoutChallenge(standard, { code_challenge: newPkce().challenge, code_challenge_method: "plain" }),
    ],
    [
      "a `standard` key with a malformed challenge",
      "challenge_invalid",
      () => withoutChallenge(standard, { code_challenge: "none", code_challenge_method: "S256" }),
    ],
  ];
  test.each(refused)("303 invalid_request for %s and no valid challenge", async (_, reason, parameters) => {
    const answer = await f.begin({ cookie: undefined }, parameters());
    expect(reasonOf(answer)).toBe(reason);
    expect(answer.headers.get("location")).toContain(`error=${signOnReasonEntry(reason).error}&`);
  });

  test("400 invalid_grant for a verifier without a challenge; the code is void (RFC 9700 4.8.2)", async () => {
    const signedOn = await begin(withoutChallenge(standard));
    const headers = basic(standard);
    const withVerifier = { code_verifier: newPkce().verifier };
    expect(outcome(await redeemAtRealm(f, signedOn, withVerifier, { headers }))).toEqual(REFUSED);
    expect(outcome(await redeemAtRealm(f, signedOn, {}, { headers }))[1]).toBe("code_invalid");
  });

  test("400 invalid_grant for a challenge without its verifier; the code is void", async () => {
    const headers = basic(standard);
    const pkce = { code_challenge: newPkce().challenge, code_challenge_method: "S256" };
    const signedOn = await begin({ client_id: standard.clientId, nonce: "n", ...pkce });
    expect(outcome(await redeemAtRealm(f, signedOn, {}, { headers }))).toEqual(REFUSED);
    expect((await redeemAtRealm(f, signedOn, {}, { headers })).code).toBe("code_invalid");
  });

  test("200 for a `standard` key with challenge and verifier", async () => {
    const signedOn = await f.signOn({ parameters: { client_id: standard.clientId } });
    const proof = { code_verifier: signedOn.pkce.verifier };
    expect((await redeemAtRealm(f, signedOn, proof, { headers: basic(standard) })).status).toBe(200);
  });

  test("400 member_missing without a verifier for the public client and a usual key; the code still works", async () => {
    for (const [client, request] of [
      [{ client_id: "customers" }, {}],
      [{ client_id: usual.clientId }, { headers: basic(usual) }],
    ] as const) {
      const signedOn = await f.signOn({ parameters: client });
      const answer = await redeemAtRealm(f, signedOn, client, request);
      expect(outcome(answer)).toEqual([400, "member_missing", "invalid_request"]);
      const proof = { ...client, code_verifier: signedOn.pkce.verifier };
      expect((await redeemAtRealm(f, signedOn, proof, request)).status).toBe(200);
    }
  });

  test("400 at POST /v2/customers/tokens with any verifier (seed 4.4)", async () => {
    const form = { grant_type: "client_credentials" };
    for (const verifier of [newPkce().verifier, "n".repeat(43)]) {
      const { code } = await begin(withoutChallenge(standard));
      const headers = basic(standard);
      const token = (await call(f.latchkey.app, issueAccessToken, { form, headers })).body.access_token;
      const answer = await f.redeem({ code, pkce: { verifier, challenge: "" } }, {}, { token });
      expect([answer.status, answer.code]).toEqual([400, "verifier_mismatch"]);
      expect((await redeemAtRealm(f, { code }, {}, { headers })).code).toBe("code_invalid");
    }
  });

  test("400 or 401 for another key, for the public client, and without the secret", async () => {
    const other = await makeKey(f, "standard");
    const redeem = async (changes: Changes, request = {}) =>
      outcome(await redeemAtRealm(f, await begin(withoutChallenge(standard)), changes, request));
    expect(await redeem({}, { headers: basic(other) })).toEqual(REFUSED);
    expect((await redeem({}, { headers: basic(usual) }))[1]).toBe("member_missing");
    expect((await redeem({ client_id: "customers" }))[1]).toBe("member_missing");
    expect((await redeem({ client_id: "customers", code_verifier: "v".repeat(43) }))[0]).toBe(400);
    expect((await redeem({ client_id: standard.clientId }))[0]).toBe(401);
  });

  test("400 once the key is `pkce` again, 401 once it is deleted, also for a sign-on that has begun", async () => {
    const key = await makeKey(f, "standard");
    const headers = basic(key);
    const issued = await begin(withoutChallenge(key));
    const browser = { cookie: undefined };
    const begun = await f.begin(browser, withoutChallenge(key));
    await change(key.id, "pkce");
    const late = await f.comeBack(browser, f.idp.signIn(begun.headers.get("location") ?? ""));
    const code = new URL(late.headers.get("location") ?? "").searchParams.get("code") ?? "";
    expect((await redeemAtRealm(f, issued, {}, { headers })).code).toBe("member_missing");
    const proof = { code_verifier: newPkce().verifier };
    expect(outcome(await redeemAtRealm(f, { code }, proof, { headers }))).toEqual(REFUSED);
    await change(key.id, "standard");
    const last = await begin(withoutChallenge(key));
    await f.store.call(deleteApplicationKey, { ids: { id: key.id } });
    expect((await redeemAtRealm(f, last, {}, { headers })).status).toBe(401);
  });

  test("400 for a row with neither challenge nor marker", async () => {
    const { code } = await begin(withoutChallenge(standard));
    const { db } = f.latchkey.storage;
    for (const code_challenge of [null, ""]) {
      await db.updateTable("sign_on_attempts").set({ code_challenge }).execute();
      const again = await begin(withoutChallenge(standard));
      await db.updateTable("sign_on_attempts").set({ code_challenge }).execute();
      expect(outcome(await redeemAtRealm(f, again, {}, { headers: basic(standard) }))).toEqual(REFUSED);
    }
    expect((await redeemAtRealm(f, { code }, {}, { headers: basic(standard) })).status).toBe(400);
  });

  test("400 for a second use; after 30 seconds the first token is revoked (oidcc-codereuse)", async () => {
    const signedOn = await begin(withoutChallenge(standard));
    const headers = basic(standard);
    const { body } = await redeemAtRealm(f, signedOn, {}, { headers });
    const used = [400, "code_already_used", "invalid_grant"];
    expect(outcome(await redeemAtRealm(f, signedOn, {}, { headers }))).toEqual(used);
    expect((await askUserinfo(f, body.access_token)).status).toBe(200);
    f.latchkey.clock.advance(31_000);
    expect(outcome(await redeemAtRealm(f, signedOn, {}, { headers }))).toEqual(used);
    expect((await askUserinfo(f, body.access_token)).status).toBe(401);
  });
});
