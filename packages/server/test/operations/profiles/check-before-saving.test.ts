import { expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import { checkBeforeSaving, checkProfile, deleteProfile } from "../../../src/contract/oidc-profiles.ts";
import { createFederation } from "../../support/federation.ts";
import { created, given, idp, latchkey, profilesOfAStore, realm, store } from "./profiles.ts";

/** The checks of a provider that no profile has yet: the report of a saved profile's checks, and nothing is saved. */

profilesOfAStore();

const checkFirst = (data: object = {}) =>
  store.call(checkBeforeSaving, {
    ids: { realm },
    json: { data: { type: "oidc-profile-checks", discovery_url: idp.discoveryUrl, ...data } },
  });
/** Figures that differ from one reading to the next. */
const timeless = ({ answer_ms: _, clock_offset_seconds: __, ...report }: Record<string, unknown>) => report;

test("answers what the checks of a saved profile answer", async () => {
  idp.hooks.discovery = (document) => ({
    ...document,
    authorization_endpoint: `${idp.origin}/realms/x/protocol/openid-connect/auth`,
  });
  const before = await checkFirst();
  expect(before.status).toBe(200);
  const { id } = await created();
  const after = await store.call(checkProfile, { ids: { realm, id } });
  expect(timeless(before.body.data)).toEqual(timeless(after.body.data));
  expect(before.body.data).toMatchObject({ issuer: idp.issuer, provider: { name: "Keycloak" } });
});

test("a requirement that is not met, and a provider that cannot be read, are no errors", async () => {
  idp.hooks.discovery = (document) => ({ ...document, response_types_supported: ["id_token"] });
  const missed = (await checkFirst()).body.data.checks.filter(
    ({ status }: { status: string }) => status === "not_met",
  );
  expect(missed).toMatchObject([{ id: "R3", remedy: expect.stringContaining("code") }]);
  const { body } = await checkFirst({ discovery_url: "https://169.254.169.254/" });
  expect(body.data.issuer).toBeNull();
  expect(body.data.checks.find(({ id }: { id: string }) => id === "R5")).toMatchObject({ status: "not_met" });
});

test("sends two requests without credentials, and writes nothing", async () => {
  const rows = async () => {
    const { db } = latchkey.storage;
    const events = [
      ...(await db.selectFrom("events").select("type").execute()),
      ...(await db.selectFrom("event_outbox").select("type").execute()),
    ];
    return [await db.selectFrom("oidc_profiles").selectAll().execute(), events.length];
  };
  const before = await rows();
  await checkFirst({ client_id: idp.clientId });
  expect(await rows()).toEqual(before);
  expect(idp.journal.map(({ path, authorization }) => [path, authorization])).toEqual([
    ["/.well-known/openid-configuration", undefined],
    ["/keys", undefined],
  ]);
});

test("429 when the store has no tries left: saving and checking draw on the same ones", async () => {
  const { id } = await created();
  for (let tries = 1; tries < limits.discoveryTries; tries++) expect((await checkFirst()).status).toBe(200);
  expect((await checkFirst()).code).toBe("discovery_tries_exceeded");
  expect((await store.call(checkProfile, { ids: { realm, id } })).code).toBe("discovery_tries_exceeded");
});

test("404 for a realm that is not the store's", async () => {
  const stranger = await latchkey.createStore();
  const json = { data: { ...given(), type: "oidc-profile-checks" } };
  const answer = await stranger.call(checkBeforeSaving, { ids: { realm }, json });
  expect([answer.code, idp.journal]).toEqual(["realm_not_found", []]);
});

test("with the client id it names the deleted profiles whose people a new profile could take over", async () => {
  const f = await createFederation();
  await f.redeem(await f.signOn());
  await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
  const ask = async (data: object) => {
    const json = { data: { type: "oidc-profile-checks", discovery_url: f.idp.discoveryUrl, ...data } };
    return (await f.store.call(checkBeforeSaving, { ids: { realm: f.realmId }, json })).body.data.meta;
  };
  expect((await ask({ client_id: f.idp.clientId })).adoptable).toEqual([
    { profile_id: f.profileId, identities: 1 },
  ]);
  expect((await ask({ client_id: "another" })).adoptable).toEqual([]);
  expect(await ask({})).toEqual({ pending_change: null, issuer_found: null });
  await f.close();
});
