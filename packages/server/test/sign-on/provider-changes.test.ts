import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listEvents } from "../../src/contract/events.ts";
import { getProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { findProfile, type Profile } from "../../src/profiles/profile.ts";
import { saveDocuments } from "../../src/profiles/save-documents.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { until } from "../support/until.ts";

/** A provider changes its document, its errors or its keys between two sign-ons. */

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

describe("a change without approval is not used", () => {
  test("another issuer: ID tokens must have the approved one", async () => {
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

  test("an authorization endpoint on another known host", async () => {
    idp.hooks.discovery = (document) => ({
      ...document,
      authorization_endpoint: `${second.origin}/authorize`,
    });
    expect(await locationOf()).toMatch(new RegExp(`^${idp.origin}/authorize\\?`));
  });
});

test("an unreadable document is read once in ten seconds; the approved one stays in use", async () => {
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

describe("a document that was read before another change was saved", () => {
  const profile = async (): Promise<Profile> => {
    const key = { storeId: f.store.store.id, realmId: f.realmId, profileId: f.profileId };
    return (await findProfile(f.latchkey.storage.db, key)) as Profile;
  };
  const save = (as: Profile, found: object) =>
    saveDocuments({ ...f.latchkey, calls: { healthOf: () => undefined } }, as, found);
  const drift = ({ metadata }: Profile) => ({
    pending_metadata: JSON.stringify({ ...metadata, tokenEndpoint: `${second.origin}/token` }),
    pending_since: 1,
  });

  test.each<[string, (known: Profile) => Promise<unknown>]>([
    [
      "the profile's discovery URL was changed",
      () => {
        const place = { discovery_url: idp.origin, client_secret: "first secret" };
        const data = { type: "oidc-profile", ...place };
        return f.store.call(updateProfile, { ids: { realm: f.realmId, id: f.profileId }, json: { data } });
      },
    ],
    [
      "another document was accepted",
      (known) => save(known, { metadata: JSON.stringify({ ...known.metadata, sendsIss: true }) }),
    ],
  ])("is dropped where %s", async (_, change) => {
    const before = await profile();
    await change(before);
    const since = await profile();
    expect(since).not.toEqual(before);
    await save(before, drift(before));
    expect(await profile()).toEqual(since);
  });

  test.each<[string, (known: Profile) => object]>([
    ["with a pending change", drift],
    ["with another issuer", () => ({ issuer_found: "https://elsewhere.example", issuer_found_at: 1 })],
  ])(
    "a document %s notes one event for several instances, and belongs to its profile alone",
    async (_, found) => {
      const before = await profile();
      const other = await f.addProfile({ name: "Of the same provider", discovery_url: before.discovery_url });
      for (let instance = 0; instance < 3; instance++) await save(before, found(before));
      await f.latchkey.app.tidy();
      const { body } = await f.store.call(listEvents, { query: "types=oidc_profile.drift_detected" });
      expect(body.data).toHaveLength(1);
      const { meta } = (await f.store.call(getProfile, { ids: { realm: f.realmId, id: other } })).body.data;
      expect([meta.pending_change, meta.issuer_found]).toEqual([null, null]);
    },
  );
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
])("the next client secret is tried after a refused client only: %s", async (_, tries, refuse) => {
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
  expect(secrets).toEqual(["first%20secret", "the%20next"].slice(0, tries));
});
