import { describe, expect, test } from "vitest";
import { updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { createRealm } from "../../../src/contract/realms.ts";
import { newId } from "../../../src/lib/ids.ts";
import { createFederation } from "../../support/federation.ts";
import { newBrowser, redirectOf } from "../../support/redirects.ts";
import {
  ask,
  atIdp,
  authorizeRequests,
  f,
  idp,
  idsOfRealm,
  isAtIdp,
  queryOf,
  refusalFor,
  withOwnFederation,
} from "./requests.ts";

/** The realm and the profile of the request, and the provider's discovery document. */

authorizeRequests();

describe("the realm", () => {
  withOwnFederation();

  test("404 for an unknown store or realm, and for another store's realm: the same page", async () => {
    const other = await f.latchkey.createStore();
    const ids = idsOfRealm();
    const pages = [];
    for (const wrong of [
      { ...ids, realm: newId() },
      { ...ids, store: newId() },
      { ...ids, store: other.store.id },
      { ...ids, realm: "evil" },
      { store: "%00", realm: "..%2f" },
    ])
      pages.push(await ask(queryOf(), { ids: wrong }));
    for (const answer of pages) {
      expect([answer.status, answer.code]).toEqual([404, "realm_not_found"]);
      expect(answer.body).not.toContain("evil");
    }
    expect(new Set(pages.map(({ body }) => body.replace(/<strong>.*?<\/strong>/, ""))).size).toBe(1);
  });

  test("another realm of the store has redirect URIs of its own", async () => {
    const json = { data: { type: "authentication-realm", name: "Wholesale", redirect_uris: [] } };
    const { body } = await f.store.call(createRealm, { json });
    const answer = await ask(queryOf(), { ids: { ...idsOfRealm(), realm: body.data.id } });
    expect(answer.code).toBe("redirect_uri_unregistered");
  });
});

describe("the method › 405 for anything but GET and POST", () => {
  test.each(["PUT", "DELETE", "OPTIONS", "PATCH"])("%s (R6, R13)", async (method) => {
    const url = `http://internal${new URL(f.issuer).pathname}/authorize?${queryOf()}`;
    const response = await f.latchkey.app.fetch(new Request(url, { method }));
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, POST");
    expect(response.headers.has("location")).toBe(false);
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
  });
});

describe("the profile", () => {
  withOwnFederation();

  const change = (profileId: string, data: object) =>
    f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: profileId },
      json: { data: { type: "oidc-profile", ...data } },
    });

  test("303 profile_unknown for a profile of another realm or store (N95, A33)", async () => {
    const other = await createFederation({ idp, storage: f.latchkey.storage, clock: f.latchkey.clock });
    await other.latchkey.app.stop();
    expect(redirectOf(await f.begin(newBrowser(), { profile: other.profileId }))).toEqual(
      refusalFor("profile_unknown"),
    );
  });

  test("303 profile_disabled for a disabled profile (A09)", async () => {
    await change(f.profileId, { enabled: false });
    expect(redirectOf(await f.begin(newBrowser()))).toEqual(refusalFor("profile_disabled"));
  });

  test("303 profile_direct for a profile of the direct flow", async () => {
    const profile = await f.addProfile({ flow: "direct", client_id: "customers" });
    expect(redirectOf(await f.begin(newBrowser(), { profile }))).toEqual(refusalFor("profile_direct"));
  });

  test("may be left out when the realm has one", async () => {
    for (const profile of [undefined, ""]) {
      const answer = await f.begin(newBrowser(), { profile });
      expect(atIdp(answer).get("redirect_uri")).toBe(f.callbackUrl);
    }
  });

  test("303 profile_none when the realm has no enabled profile to broker", async () => {
    await change(f.profileId, { enabled: false });
    await f.addProfile({ flow: "direct", client_id: "customers" });
    expect(redirectOf(await f.begin(newBrowser(), { profile: undefined }))).toEqual(
      refusalFor("profile_none"),
    );
  });
});

describe("the provider's discovery document", () => {
  withOwnFederation();

  const DAY = 24 * 3_600_000;
  const isDown = {
    "/.well-known/openid-configuration": (_: unknown, r: { destroy(): void }) => void r.destroy(),
  };

  test("303 temporarily_unavailable once the last document is a day old, until the provider answers again", async () => {
    await f.begin(newBrowser());
    idp.hooks.answer = isDown;
    f.latchkey.clock.advance(DAY - 1);
    expect(isAtIdp(await f.begin(newBrowser()))).toBe(true);
    f.latchkey.clock.advance(10_000);
    expect(redirectOf(await f.begin(newBrowser()))).toEqual(refusalFor("idp_unavailable"));
    idp.hooks = {};
    f.latchkey.clock.advance(10_000);
    expect(isAtIdp(await f.begin(newBrowser()))).toBe(true);
  });

  test.each<[string, (issuer: string) => string]>([
    ["another issuer", (issuer) => `${issuer}INVALID`],
    ["an issuer in capitals", (issuer) => issuer.toUpperCase()],
    ["an issuer with another host", (issuer) => issuer.replace("127.0.0.1", "localhost")],
    ["an issuer with a path", (issuer) => `${issuer}/tenant`],
    ["no issuer", () => ""],
  ])("%s is not accepted: the old endpoints are used for a day, then none (N50, N51)", async (_, change) => {
    await f.begin(newBrowser());
    idp.hooks.discovery = (document) => ({
      ...document,
      issuer: change(idp.issuer),
      authorization_endpoint: `${idp.origin}/evil`,
    });
    f.latchkey.clock.advance(5 * 60_000);
    const answer = await f.begin(newBrowser());
    expect(isAtIdp(answer)).toBe(true);
    f.latchkey.clock.advance(DAY);
    expect(redirectOf(await f.begin(newBrowser()))).toEqual(refusalFor("idp_unavailable"));
  });

  test("an issuer with a trailing slash is drift: the old endpoints are used until it is approved (N51)", async () => {
    await f.begin(newBrowser());
    idp.hooks.discovery = (document) => ({
      ...document,
      issuer: `${idp.issuer}/`,
      authorization_endpoint: `${idp.origin}/evil`,
    });
    for (let day = 0; day < 3; day++) {
      f.latchkey.clock.advance(DAY);
      const location = (await f.begin(newBrowser())).headers.get("location") ?? "";
      expect(location.startsWith(`${idp.origin}/authorize?`)).toBe(true);
    }
  });
});
