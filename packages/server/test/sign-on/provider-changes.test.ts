import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { updateProfile } from "../../src/contract/oidc-profiles.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { until } from "../support/until.ts";

/** What a provider says of itself, or to us, changes between two sign-ons. */

const DISCOVERY = "/.well-known/openid-configuration";
const FRESH_MS = 5 * 60_000;

let idp: HostileIdp;
let second: HostileIdp;
let f: Federation;

beforeEach(async () => {
  idp = await startHostileIdp();
  second = await startHostileIdp();
  idp.hooks.discovery = (document) => ({ ...document, userinfo_endpoint: `${second.origin}/userinfo` });
  f = await createFederation({ idp, allowedOrigins: [idp.origin, second.origin] });
  expect((await f.signOn()).code).not.toBe("");
  f.latchkey.clock.advance(FRESH_MS);
});
afterEach(async () => {
  await f.close();
  await idp.close();
  await second.close();
});

const locationOf = async () => (await f.begin({ cookie: undefined })).headers.get("location");

describe("what an administrator has not seen is not taken over", () => {
  test("another issuer, although nothing else changed: the one that is known must sign", async () => {
    const known = idp.issuer;
    idp.hooks.discovery = (document) => ({
      ...document,
      issuer: `${known}/`,
      userinfo_endpoint: `${second.origin}/userinfo`,
    });
    expect((await f.signOn()).code).not.toBe("");
    idp.hooks.claims = (claims) => ({ ...claims, iss: `${known}/` });
    const { reference } = await f.signOn();
    expect((await f.recordOf(reference)).reason).toBe("id_token.iss");
  });

  test("shoppers sent to another host, although it was known for something else", async () => {
    idp.hooks.discovery = (document) => ({
      ...document,
      authorization_endpoint: `${second.origin}/authorize`,
    });
    expect(await locationOf()).toMatch(new RegExp(`^${idp.origin}/authorize\\?`));
  });
});

test("a document that cannot be read is asked for once in ten seconds, and the known one is used", async () => {
  idp.hooks.answer = { [DISCOVERY]: (_, response) => void response.writeHead(500).end() };
  idp.journal.length = 0;
  for (let i = 0; i < 5; i++) expect(await locationOf()).toContain(`${idp.origin}/authorize`);
  await until(() => idp.asked(DISCOVERY) === 1);
  await until(async () => {
    f.latchkey.clock.advance(10_000);
    await locationOf();
    return idp.asked(DISCOVERY) >= 2;
  });
});

const json = { "content-type": "application/json" };

test.each<[string, number, (response: ServerResponse) => void]>([
  ["401 without a word", 2, (response) => void response.writeHead(401).end()],
  ["401 with another error", 2, (response) => void response.writeHead(401, json).end('{"error":"x"}')],
  [
    "400 invalid_client",
    2,
    (response) => void response.writeHead(400, json).end('{"error":"invalid_client"}'),
  ],
  ["400 invalid_grant", 1, (response) => void response.writeHead(400, json).end('{"error":"invalid_grant"}')],
  ["403", 1, (response) => void response.writeHead(403).end()],
  ["500", 1, (response) => void response.writeHead(500).end()],
])(
  "the next client secret is tried when ours was refused, and for nothing else: %s",
  async (_, tries, refuse) => {
    await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: f.profileId },
      json: { data: { type: "oidc-profile", client_secret_next: "the next" } },
    });
    idp.hooks.answer = { "/token": (_request, response) => refuse(response) };
    idp.journal.length = 0;
    expect((await f.signOn()).error).not.toBeNull();
    const secrets = idp.journal
      .filter(({ path }) => path === "/token")
      .map(({ authorization = "" }) => atob(authorization.slice("Basic ".length)).split(":")[1]);
    expect(secrets).toEqual(["first+secret", "the+next"].slice(0, tries));
  },
);
