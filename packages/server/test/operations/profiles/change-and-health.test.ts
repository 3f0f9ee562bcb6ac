import { describe, expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import {
  approveDrift,
  checkProfile,
  deleteProfile,
  getProfile,
  listProfiles,
} from "../../../src/contract/oidc-profiles.ts";
import { ready } from "../../../src/contract/service.ts";
import { call } from "../../support/call.ts";
import {
  create,
  created,
  idp,
  latchkey,
  profilesOfAStore,
  read,
  realm,
  store,
  update,
  useNewStore,
} from "./profiles.ts";

/** Profiles are changed, listed and deleted; the provider's checks and health. */

profilesOfAStore();

describe("update, list and deletion of a profile", () => {
  test("200 renames while the provider is down", async () => {
    const { id } = await created();
    idp.hooks.answer = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    expect((await update(id, { name: "Renamed" })).body.data.name).toBe("Renamed");
  });

  test("wrong discovery URLs do not change the health of the working provider", async () => {
    const { id } = await created();
    for (let i = 0; i < 8; i++) {
      await update(id, { discovery_url: `${idp.origin}/wrong`, client_secret: "s" });
      await create({ discovery_url: `${idp.origin}/wrong` });
    }
    expect((await read(id)).data.meta.health.status).toBe("up");
    expect((await call(latchkey.app, ready)).body.identity_providers).toEqual({ down: 0, degraded: 0 });
  });

  test("422 for an update to a provider that misses a requirement; the old one stays", async () => {
    const { id } = await created();
    const before = await read(id);
    idp.hooks.discovery = (d) => ({ ...d, response_types_supported: ["id_token"] });
    const answer = await update(id, { discovery_url: `${idp.origin}/`, client_secret: "s" });
    expect(answer.code).toBe("idp_requirement_not_met");
    expect(await read(id)).toEqual(before);
  });

  test("409 for another profile's id in the body", async () => {
    const { id } = await created();
    expect((await update(id, { id: "another" })).code).toBe("id_mismatch");
  });

  test("200 with links in each item, for storefronts, too (seed 4.2)", async () => {
    await created();
    await created({ name: "Second" });
    const { body } = await call(latchkey.app, listProfiles, {
      ids: { realm },
      token: await store.token("implicit"),
    });
    expect(body.data.map((profile: { name: string }) => profile.name)).toEqual(["Company account", "Second"]);
    for (const profile of body.data) {
      expect(profile.links["authorization-endpoint"]).toContain(`?profile=${profile.id}`);
    }
  });

  test("200 hides secret rotation and pending changes from public tokens; the back office sees both", async () => {
    const { id } = await created({ client_secret_next: "marker next secret" });
    const metaFor = async (token: string) => {
      const one = await call(latchkey.app, getProfile, { ids: { realm, id }, token });
      const list = await call(latchkey.app, listProfiles, { ids: { realm }, token });
      return [one.body.data.meta, list.body.data[0].meta];
    };
    for (const meta of await metaFor(await store.token("implicit"))) {
      expect(Object.keys(meta)).toEqual(["issuer", "endpoint_hosts", "health", "created_at", "updated_at"]);
    }
    for (const meta of await metaFor(await store.token())) {
      expect(meta).toMatchObject({ has_next_client_secret: true, pending_change: null });
    }
  });

  test("404 for another store's profile on every path; the profile stays (T30)", async () => {
    const { id } = await created();
    const other = await latchkey.createStore();
    for (const operation of [getProfile, deleteProfile, checkProfile]) {
      expect((await other.call(operation, { ids: { realm, id } })).code).toBe("realm_not_found");
    }
    const json = { data: { digest: "x" } };
    expect((await other.call(approveDrift, { ids: { realm, id }, json })).code).toBe("realm_not_found");
    expect((await read(id)).data.id).toBe(id);
  });

  test("204 deletes the profile", async () => {
    const { id } = await created();
    expect((await store.call(deleteProfile, { ids: { realm, id } })).status).toBe(204);
    expect((await store.call(getProfile, { ids: { realm, id } })).code).toBe("profile_not_found");
  });
});

describe("the checks of a profile", () => {
  test("200 with a status for each requirement", async () => {
    const { id } = await created();
    const { body } = await store.call(checkProfile, { ids: { realm, id } });
    const statuses = Object.fromEntries(
      body.data.checks.map((check: { id: string; status: string }) => [check.id, check.status]),
    );
    expect(statuses).toEqual({
      R1: "met",
      R2: "met",
      R3: "met",
      R4: "met",
      R5: "met",
      R6: "unknown",
      R7: "unknown",
      R8: "unknown",
      R9: "unknown",
    });
    expect(body.data.answer_ms).toBeGreaterThanOrEqual(0);
    expect(body.data.clock_offset_seconds).toEqual(expect.any(Number));
  });

  test("200 also when the provider's document has become invalid", async () => {
    const { id } = await created();
    idp.hooks.discovery = () => ({});
    const { body } = await store.call(checkProfile, { ids: { realm, id } });
    expect(body.data.checks[0]).toMatchObject({ id: "R1", status: "not_met", remedy: expect.any(String) });
  });
});

describe("the limit of discovery reads", () => {
  const wrong = (n: number) => create({ discovery_url: `${idp.origin}/${n}` });

  test("429 for every operation that reads once a store has used them up; the provider gets no request", async () => {
    const { id } = await created();
    const ask = { ids: { realm, id } };
    const last = await created({ enabled: false });
    for (let n = 2; n < limits.discoveryTries - 1; n++) expect((await wrong(n)).code).toBe("idp_unreachable");
    expect((await store.call(checkProfile, ask)).status).toBe(200);
    idp.journal.length = 0;
    for (const refused of [
      await wrong(0),
      await store.call(checkProfile, ask),
      await update(id, { discovery_url: `${idp.origin}/`, client_secret: "s" }),
      await update(last.id, { enabled: true }),
    ]) {
      expect([refused.status, refused.code]).toEqual([429, "discovery_tries_exceeded"]);
      expect(refused.headers.get("retry-after")).toBe("2");
      expect(refused.body.errors[0].meta).toEqual({ at_once: 30, per_minute: 30 });
    }
    expect(idp.journal).toEqual([]);
    expect((await update(id, { name: "Renamed" })).status).toBe(200);
    latchkey.clock.advance(2000);
    expect((await wrong(0)).code).toBe("idp_unreachable");
    expect((await wrong(0)).code).toBe("discovery_tries_exceeded");
  });

  test("holds for each store apart", async () => {
    for (let n = 0; n <= limits.discoveryTries; n++) await wrong(n);
    expect((await wrong(0)).status).toBe(429);
    await useNewStore();

    expect((await create()).status).toBe(201);
  });
});

describe("the health of a provider", () => {
  test("failures show in the profile and in readiness, which stays ready", async () => {
    const { id } = await created();
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) => void response.writeHead(500).end(),
    };
    const statuses: string[] = [];
    for (let i = 0; i < 6; i++) {
      await store.call(checkProfile, { ids: { realm, id } });
      statuses.push((await read(id)).data.meta.health.status);
    }
    expect(statuses).toEqual(["degraded", "degraded", "degraded", "degraded", "down", "down"]);
    expect(idp.asked("/.well-known/openid-configuration")).toBe(1 + 5);
    expect((await call(latchkey.app, ready)).body).toEqual({
      status: "ready",
      identity_providers: { down: 1, degraded: 0 },
    });
    idp.hooks = {};
    latchkey.clock.advance(10_000);
    await store.call(checkProfile, { ids: { realm, id } });
    expect((await read(id)).data.meta.health.status).toBe("up");
  });

  test("a rename or a new secret keeps `down`; another discovery URL resets it", async () => {
    const { id } = await created();
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) => void response.writeHead(500).end(),
    };
    for (let i = 0; i < 5; i++) await store.call(checkProfile, { ids: { realm, id } });
    for (const change of [{ name: "Renamed" }, { client_secret: "new" }, { enabled: false }]) {
      expect((await update(id, change)).status).toBe(200);
      expect((await read(id)).data.meta.health.status).toBe("down");
    }
    idp.journal.length = 0;
    await store.call(checkProfile, { ids: { realm, id } });
    expect(idp.journal).toEqual([]);
    idp.hooks = {};
    expect((await update(id, { discovery_url: idp.origin, client_secret: "new" })).status).toBe(200);
    expect((await read(id)).data.meta.health?.status).not.toBe("down");
  });
});
