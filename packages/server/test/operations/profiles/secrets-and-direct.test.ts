import { describe, expect, test } from "vitest";
import { createProfile, listProfiles } from "../../../src/contract/oidc-profiles.ts";
import { createRealm, updateAuthenticationSettings } from "../../../src/contract/realms.ts";
import {
  create,
  created,
  given,
  idp,
  latchkey,
  profilesOfAStore,
  read,
  realm,
  store,
  update,
} from "./profiles.ts";

/** Client secrets, and profiles of the direct flow. */

profilesOfAStore();

describe("the client secret", () => {
  test("201 without one for a disabled profile; enabling needs one, and so does a change of the client id", async () => {
    const withoutSecret = { ...given(), client_secret: undefined, enabled: false };
    const made = await store.call(createProfile, { ids: { realm }, json: { data: withoutSecret } });
    expect([made.status, made.body.data.meta.has_client_secret]).toEqual([201, false]);
    const { id } = made.body.data;
    expect((await update(id, { name: "Renamed" })).status).toBe(200);
    expect((await update(id, { client_id: "another" })).status).toBe(200);
    expect((await update(id, { enabled: true })).code).toBe("client_secret_required");
    const { status, body } = await update(id, { enabled: true, client_secret: "s" });
    expect([status, body.data.meta.has_client_secret]).toEqual([200, true]);
    expect((await update(id, { client_id: "a third" })).code).toBe("client_secret_required");
  });

  test.each([{}, { enabled: true }])("400 without one for an enabled profile: %j", async (more) => {
    const json = { data: { ...given(), client_secret: undefined, ...more } };
    const answer = await store.call(createProfile, { ids: { realm }, json });
    expect([answer.status, answer.code]).toEqual([400, "member_missing"]);
    expect(answer.body.errors[0].source).toEqual({ pointer: "/data/client_secret" });
  });

  test("400 names a missing secret beside all other faults", async () => {
    const faults = async (data: unknown) => {
      const { body } = await store.call(createProfile, { ids: { realm }, json: { data } });
      return body.errors.map(({ source }: { source: { pointer: string } }) => source.pointer).sort();
    };
    const members = ["client_id", "client_secret", "discovery_url", "name"].map((name) => `/data/${name}`);
    expect(await faults({ type: "oidc-profile" })).toEqual(members);
    expect(await faults({ type: "oidc-profile", enabled: false })).not.toContain("/data/client_secret");
    expect(await faults({ ...given(), client_secret: 7 })).toEqual(["/data/client_secret"]);
    for (const data of [null, 7, []]) expect(await faults(data)).toEqual(["/data"]);
  });

  test("is in no answer, no log line and not in clear in the database (T27, A56)", async () => {
    const { id } = await created({ client_secret_next: "marker next" });
    const answers = [await read(id), (await store.call(listProfiles, { ids: { realm } })).body];
    const rows = await latchkey.storage.db.selectFrom("oidc_profiles").selectAll().execute();
    expect(JSON.stringify([answers, rows, latchkey.logLines])).not.toContain("marker");
    expect(answers[0].data.meta.has_next_client_secret).toBe(true);
  });

  test.each([
    ["discovery URL", () => ({ discovery_url: `${idp.origin}/` })],
    ["client id", () => ({ client_id: "another" })],
  ])(
    "422 for a changed %s without the secret; nothing changes, and the provider gets no request (T26, A55)",
    async (_, change) => {
      const { id } = await created();
      const before = await read(id);
      idp.journal.length = 0;
      expect((await update(id, change())).code).toBe("client_secret_required");
      expect(idp.journal).toEqual([]);
      expect(await read(id)).toEqual(before);
      expect((await update(id, { ...change(), client_secret: "new" })).status).toBe(200);
    },
  );

  test("the next secret can be set and removed, and is dropped with a change of the client id", async () => {
    const { id } = await created({ client_secret_next: "n" });
    const hasNext = async () => (await read(id)).data.meta.has_next_client_secret;
    await update(id, { client_secret_next: null });
    expect(await hasNext()).toBe(false);
    await update(id, { client_secret_next: "n" });
    await update(id, { name: "Renamed" });
    expect(await hasNext()).toBe(true);
    await update(id, { client_id: "another", client_secret: "s" });
    expect(await hasNext()).toBe(false);
  });
});

describe("the direct flow", () => {
  const direct = () => ({ flow: "direct", client_id: "customers" });

  test("the authorization link is the provider's endpoint with a query (wire 15)", async () => {
    const { body } = await create(direct());
    expect(body.links["authorization-endpoint"]).toBe(`${idp.origin}/authorize?profile=${body.data.id}`);
    idp.hooks.discovery = (d) => ({ ...d, authorization_endpoint: `${idp.origin}/authorize?a=1` });
    const second = await create({ ...direct(), enabled: false });
    expect(second.body.links["authorization-endpoint"]).toBe(
      `${idp.origin}/authorize?a=1&profile=${second.body.data.id}`,
    );
  });

  test("409 for a second direct profile in the realm, also in a race; another realm may have one", async () => {
    const answers = await Promise.all([create(direct()), create(direct())]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await create(direct())).code).toBe("direct_profile_exists");
    const { id } = await created();
    expect((await update(id, { ...direct(), client_secret: "s" })).code).toBe("direct_profile_exists");
    const json = { data: { type: "authentication-realm", name: "Another" } };
    const ids = { realm: (await store.call(createRealm, { json })).body.data.id };
    const elsewhere = { ids, json: { data: { ...given(), ...direct() } } };
    expect((await store.call(createProfile, elsewhere)).status).toBe(201);
  });

  test("422 when the client ids of profile and settings differ, from either side", async () => {
    expect((await create({ flow: "direct" })).code).toBe("direct_client_id_mismatch");
    const { id } = await created(direct());
    const json = { data: { type: "customer-authentication-settings", client_id: "other" } };
    expect((await store.call(updateAuthenticationSettings, { json })).code).toBe("direct_client_id_mismatch");
    expect((await update(id, { client_id: "other", client_secret: "s" })).code).toBe(
      "direct_client_id_mismatch",
    );
  });
});
