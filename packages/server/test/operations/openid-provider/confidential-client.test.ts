import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { issueAccessToken } from "../../../src/contract/access-tokens.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  rotateApplicationKey,
} from "../../../src/contract/application-keys.ts";
import { call } from "../../support/call.ts";
import { newPkce } from "../../support/federation.ts";
import { basic, f, outcome, realmAsProvider, redeem } from "./realm.ts";

/** An application key as a confidential client of the realm. */

realmAsProvider();

describe("an application key as a confidential client", () => {
  const asKey = () => f.signOn({ parameters: { client_id: f.store.key.clientId } });
  const key = () => f.store.key;

  test("200 with its secret by Basic or in the form; the ID token's audience is the key, and PKCE is required", async () => {
    const byForm = await redeem(await asKey(), {
      client_id: key().clientId,
      client_secret: key().clientSecret,
    });
    const headers = basic(key().clientId, key().clientSecret);
    const byBasic = await redeem(await asKey(), { client_id: undefined }, { headers });
    for (const { status, body } of [byForm, byBasic]) {
      expect(status).toBe(200);
      expect(decodeJwt(body.id_token).aud).toBe(key().clientId);
      expect(decodeJwt(body.access_token).client_id).toBe(key().clientId);
    }
    const noChallenge = await f.signOn({
      parameters: { client_id: key().clientId, code_challenge: undefined, code_challenge_method: undefined },
    });
    expect(noChallenge.error).toBe("invalid_request");
    const wrong = { code_verifier: newPkce().verifier, client_id: undefined };
    expect(outcome(await redeem(await asKey(), wrong, { headers }))).toEqual([
      400,
      "verifier_mismatch",
      "invalid_grant",
    ]);
    const none = { code_verifier: undefined, client_id: undefined };
    expect(outcome(await redeem(await asKey(), none, { headers }))).toEqual([
      400,
      "member_missing",
      "invalid_request",
    ]);
  });

  test("401 for a missing, wrong, foreign or malformed secret; the code is not used up", async () => {
    const signedOn = await asKey();
    const other = (
      await f.store.call(createApplicationKey, { json: { data: { type: "application_key", name: "Other" } } })
    ).body.data;
    const { clientId, clientSecret } = key();
    const raw = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
    const answers = [
      await redeem(signedOn, { client_id: clientId }),
      await redeem(signedOn, { client_id: undefined }),
      await redeem(signedOn, { client_id: clientId, client_secret: "" }),
      await redeem(signedOn, { client_id: clientId, client_secret: `${clientSecret}x` }),
      await redeem(signedOn, { client_id: clientId, client_secret: other.client_secret }),
      await redeem(signedOn, { client_id: undefined }, { headers: raw(`${clientId}`) }),
      await redeem(signedOn, { client_id: undefined }, { headers: raw(`${clientId}:%zz`) }),
      await redeem(
        signedOn,
        { client_id: undefined },
        { headers: { authorization: `Basic ${clientId}:${clientSecret}` } },
      ),
      await redeem(
        signedOn,
        { client_id: undefined },
        { headers: { authorization: `Bearer ${f.implicit}` } },
      ),
    ];
    for (const { status, headers, body } of answers) {
      expect([status, body.error]).toEqual([401, "invalid_client"]);
      expect(headers.get("www-authenticate")).toMatch(/^Basic /);
    }
    const twice = await redeem(
      signedOn,
      { client_id: clientId, client_secret: clientSecret },
      { headers: basic(clientId, clientSecret) },
    );
    expect(outcome(twice)).toEqual([400, "client_authenticated_twice", "invalid_request"]);
    await f.store.call(rotateApplicationKey, { ids: { id: key().id }, json: { data: { grace_seconds: 0 } } });
    f.latchkey.clock.advance(1);
    const rotated = await redeem(
      signedOn,
      { client_id: undefined },
      { headers: basic(clientId, clientSecret) },
    );
    expect(rotated.code).toBe("secret_rotated");
  });

  test("a key's code is refused to other clients, and at POST /v2/customers/tokens without the key's token", async () => {
    const other = (
      await f.store.call(createApplicationKey, { json: { data: { type: "application_key", name: "Other" } } })
    ).body.data;
    const headers = basic(other.client_id, other.client_secret);
    expect(outcome(await redeem(await asKey(), { client_id: undefined }, { headers }))).toEqual([
      400,
      "code_invalid",
      "invalid_grant",
    ]);
    expect(outcome(await redeem(await asKey()))).toEqual([400, "code_invalid", "invalid_grant"]);
    expect((await f.redeem(await asKey())).code).toBe("code_invalid");
    const form = {
      grant_type: "client_credentials",
      client_id: other.client_id,
      client_secret: other.client_secret,
    };
    const token = (await call(f.latchkey.app, issueAccessToken, { form })).body.access_token;
    expect((await f.redeem(await asKey(), {}, { token })).code).toBe("code_invalid");
    expect((await f.redeem(await asKey(), {}, { token: await f.store.token() })).status).toBe(200);
  });

  test("a code of the public client is refused to a key with its secret", async () => {
    const headers = basic(key().clientId, key().clientSecret);
    const answer = await redeem(await f.signOn(), { client_id: undefined }, { headers });
    expect(outcome(answer)).toEqual([400, "code_invalid", "invalid_grant"]);
  });

  test("a key of another store, or a deleted one, may neither begin a sign-on nor redeem a code", async () => {
    const stranger = await f.latchkey.createStore();
    const foreign = await f.begin({ cookie: undefined }, { client_id: stranger.key.clientId });
    expect([foreign.status, foreign.code]).toEqual([400, "sign_on_client_unknown"]);
    const headers = basic(stranger.key.clientId, stranger.key.clientSecret);
    const answer = await redeem(await asKey(), { client_id: undefined }, { headers });
    expect(outcome(answer)).toEqual([401, "client_unknown", "invalid_client"]);
    const spare = (
      await f.store.call(createApplicationKey, { json: { data: { type: "application_key", name: "Spare" } } })
    ).body.data;
    const begun = await f.signOn({ parameters: { client_id: spare.client_id } });
    await f.store.call(deleteApplicationKey, { ids: { id: spare.id } });
    const late = await redeem(
      begun,
      { client_id: undefined },
      { headers: basic(spare.client_id, spare.client_secret) },
    );
    expect(late.status).toBe(401);
    expect((await f.begin({ cookie: undefined }, { client_id: spare.client_id })).code).toBe(
      "sign_on_client_unknown",
    );
  });

  test("needs a registered redirect URI, too", async () => {
    const answer = await f.begin(
      { cookie: undefined },
      { client_id: key().clientId, redirect_uri: "https://evil.example/" },
    );
    expect(answer.code).toBe("redirect_uri_unregistered");
  });
});
