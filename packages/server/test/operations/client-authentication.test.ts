import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { introspectToken, issueAccessToken, revokeToken } from "../../src/contract/access-tokens.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { realmToken } from "../../src/contract/sign-on.ts";
import { type Call, call } from "../support/call.ts";
import { createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";

/** Client authentication at the OAuth endpoints: by Basic or in the body; other schemes are ignored. */

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
});
afterAll(() => f.close());

const secretInForm = () => ({
  client_id: f.store.key.clientId,
  client_secret: f.store.key.clientSecret,
});
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
const realm = () => ({ store: f.store.store.id, realm: f.realmId });

/** Each endpoint, with a request that is answered with 200 by the credentials in its form. */
const endpoints: [string, Operation, () => Promise<Call>][] = [
  [
    "/oauth/access_token, implicit",
    issueAccessToken,
    async () => ({ form: { grant_type: "implicit", client_id: f.store.key.clientId } }),
  ],
  [
    "/oauth/access_token, client_credentials",
    issueAccessToken,
    async () => ({ form: { grant_type: "client_credentials", ...secretInForm() } }),
  ],
  ["/oauth/introspect", introspectToken, async () => ({ form: { token: f.implicit, ...secretInForm() } })],
  ["/oauth/revoke", revokeToken, async () => ({ form: { token: "unknown", ...secretInForm() } })],
  ["the realm's token endpoint, public client", realmToken, () => redeeming({ client_id: "customers" })],
  ["the realm's token endpoint, application key", realmToken, () => redeeming(secretInForm())],
];

async function redeeming(client: { client_id: string; client_secret?: string }): Promise<Call> {
  const { code, pkce } = await f.signOn({ parameters: { client_id: client.client_id } });
  const grant = { grant_type: "authorization_code", code, redirect_uri: SHOP, code_verifier: pkce.verifier };
  return { ids: realm(), form: { ...grant, ...client } };
}

/** Headers that existing clients and proxies send. `{token}`: an earlier bearer token. */
const IGNORED = [
  "Bearer {token}",
  "bearer expired-long-ago",
  "Bearer",
  "Digest username=x",
  "Negotiate abc",
  "Basics YTpi",
  "x",
];

describe.each(endpoints)("client authentication at %s", (_, operation, request) => {
  test.each(IGNORED)("200: `Authorization: %s` is ignored", async (text) => {
    const headers = { authorization: text.replace("{token}", f.implicit) };
    expect((await call(f.latchkey.app, operation, { ...(await request()), headers })).status).toBe(200);
  });

  test("401 for malformed Basic: it is not ignored", async () => {
    const { form = {}, ...rest } = await request();
    const { client_secret: _, ...withoutSecret } = form;
    for (const authorization of ["Basic", "basic !!!", basic("no colon"), basic("%zz:%zz")]) {
      const answer = await call(f.latchkey.app, operation, {
        ...rest,
        form: withoutSecret,
        headers: { authorization },
      });
      expect([answer.status, answer.code], authorization).toEqual([401, "client_unknown"]);
    }
  });

  test("400 for an access token in the query, with any header (R46)", async () => {
    const headers = { authorization: `Bearer ${f.implicit}` };
    const query = `access_token=${f.implicit}`;
    const answer = await call(f.latchkey.app, operation, { ...(await request()), headers, query });
    expect([answer.status, answer.code]).toEqual([400, "token_misplaced"]);
  });
});

test("client authentication › 400 for Basic and a secret in the body together (R33)", async () => {
  const { clientId, clientSecret } = f.store.key;
  const headers = { authorization: basic(`${clientId}:${clientSecret}`) };
  for (const [, operation, request] of endpoints) {
    const { form = {}, ...rest } = await request();
    if (!form.client_secret) continue;
    const answer = await call(f.latchkey.app, operation, { ...rest, form, headers });
    expect([answer.status, answer.code]).toEqual([400, "client_authenticated_twice"]);
  }
});

test("Basic is form-decoded on both sides of the colon; the scheme's name may have any case (R33, R34)", async () => {
  const { clientId, clientSecret } = f.store.key;
  const encoded = [clientId, clientSecret].map((text) => text.replaceAll("_", "%5F")).join(":");
  for (const scheme of ["Basic", "basic", "BASIC"]) {
    const headers = { authorization: basic(encoded).replace("Basic", scheme) };
    const form = { grant_type: "client_credentials" };
    expect((await call(f.latchkey.app, issueAccessToken, { form, headers })).status).toBe(200);
  }
});

test("client authentication › 401 for a bearer token without client id and secret in the body", async () => {
  const headers = { authorization: `Bearer ${await f.store.token()}` };
  const code = { code: "lkac_x", redirect_uri: SHOP, code_verifier: newPkce().verifier };
  const requests: [Operation, Call][] = [
    [issueAccessToken, { form: { grant_type: "client_credentials" } }],
    [introspectToken, { form: { token: f.implicit } }],
    [revokeToken, { form: { token: f.implicit } }],
    [realmToken, { ids: realm(), form: { grant_type: "authorization_code", ...code } }],
  ];
  for (const [operation, request] of requests) {
    const answer = await call(f.latchkey.app, operation, { ...request, headers });
    expect([answer.status, answer.code]).toEqual([401, "client_credentials_missing"]);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Basic /);
  }
});
