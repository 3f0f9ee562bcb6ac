import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/contract/limits.ts";
import {
  createRealm,
  deleteRealm,
  getAuthenticationSettings,
  updateAuthenticationSettings,
} from "../../../src/contract/realms.ts";
import { createEgress } from "../../../src/egress/egress.ts";
import { createKeyring } from "../../../src/lib/keyring.ts";
import { newPkce, SHOP } from "../../support/federation.ts";
import { newBrowser, redirectOf } from "../../support/redirects.ts";
import { until } from "../../support/until.ts";
import {
  type Begun,
  begin,
  callbackJourneys,
  changeProfile,
  codeRedirect,
  end,
  endAt,
  f,
  idp,
  otherInstance,
  people,
  refusalFor,
  removeProfile,
  second,
  withOwnFederation,
} from "./journey.ts";

/** Between authorize and callback: settings change, another instance answers, the provider is slow. */

callbackJourneys();

describe("a change of settings between authorize and callback", () => {
  withOwnFederation();

  test("303 access_denied when the profile was disabled; other profiles of the realm work (T24, A09)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const [begun, other] = [await begin(), await begin(newBrowser(), { profile }, second)];
    await changeProfile({ enabled: false });
    idp.journal.length = 0;
    expect(redirectOf(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect(idp.journal).toEqual([]);
    expect(redirectOf(await end(other))).toEqual(codeRedirect());
  });

  test("303 access_denied when the profile was deleted (T24)", async () => {
    const begun = await begin();
    await removeProfile();
    expect(redirectOf(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect(idp.asked("/token")).toBe(0);
  });

  test("303 access_denied when the profile was deleted and a like one was made (A04)", async () => {
    const begun = await begin();
    await removeProfile();
    const profile = await f.addProfile();
    expect(redirectOf(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect((await endAt(f.latchkey.app, begun, { profile })).code).toBe("attempt_invalid");
  });

  test("400 at the exchange when the profile was disabled after the callback; the code is void (T24, A09)", async () => {
    const signedOn = await f.signOn();
    await changeProfile({ enabled: false });
    const answer = await f.redeem(signedOn);
    expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
    expect(await people()).toEqual({ customers: [], identities: [], tokens: [] });
    await changeProfile({ enabled: true });
    expect((await f.redeem(signedOn)).code).toBe("code_invalid");
  });

  test("400 at the exchange when the profile became direct after the callback; the code stays void (T24)", async () => {
    const signedOn = await f.signOn();
    const settings = { type: "customer-authentication-settings", client_id: idp.clientId };
    await f.store.call(updateAuthenticationSettings, { json: { data: settings } });
    expect((await changeProfile({ flow: "direct" })).status).toBe(200);
    idp.journal.length = 0;
    const answer = await f.redeem(signedOn);
    expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
    expect(idp.journal).toEqual([]);
    expect(await people()).toEqual({ customers: [], identities: [], tokens: [] });
    await changeProfile({ flow: "brokered" });
    expect((await f.redeem(signedOn)).code).toBe("code_invalid");
  });

  test("400 as a page when the redirect URI was removed from the realm (T24)", async () => {
    const begun = await begin();
    await f.changeRealm({ redirect_uris: [`${SHOP}?shop=1`, `${SHOP}/`] });
    const answer = await end(begun);
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.body).not.toContain("shop.example");
    expect(idp.asked("/token")).toBe(0);
    await f.changeRealm({ redirect_uris: [SHOP] });
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test("404 when the realm was deleted (T24)", async () => {
    const begun = await begin();
    await removeProfile();
    const realm = { type: "authentication-realm", name: "Other" };
    const made = await f.store.call(createRealm, { json: { data: realm } });
    const settings = { type: "customer-authentication-settings", realm_id: made.body.data.id };
    await f.store.call(updateAuthenticationSettings, { json: { data: settings } });
    await f.store.call(deleteRealm, { ids: { id: f.realmId } });
    const answer = await end(begun);
    expect([answer.status, answer.code]).toEqual([404, "realm_not_found"]);
    expect((await f.store.call(getAuthenticationSettings)).body.data.realm_id).toBe(made.body.data.id);
  });

  test("303 access_denied when the profile was moved to another provider, which gets no request (R79, A20)", async () => {
    const begun = await begin();
    const moved = await changeProfile({
      discovery_url: second.discoveryUrl,
      client_secret: second.clientSecrets[0],
    });
    expect(moved.status).toBe(200);
    expect(redirectOf(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect([idp.asked("/token"), second.asked("/token")]).toEqual([0, 0]);
  });

  test("a new client secret is used at once", async () => {
    const begun = await begin();
    await changeProfile({ client_secret: "another secret" });
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
    const sent = idp.journal.find(({ path }) => path === "/token")?.authorization ?? "";
    expect(atob(sent.slice("Basic ".length))).toBe("the-store:another%20secret");
  });

  test("303 temporarily_unavailable while the database is down; afterwards the same sign-on works (T19)", async () => {
    const begun = await begin();
    const { storage } = f.latchkey;
    const { ahead } = storage;
    storage.ahead = async () => {
      throw Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    };
    expect(redirectOf(await end(begun))).toEqual(refusalFor("storage_unavailable"));
    expect(idp.asked("/token")).toBe(0);
    storage.ahead = ahead;
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test("303 temporarily_unavailable once the provider's documents are older than a day", async () => {
    await f.begin(newBrowser());
    idp.hooks.answer = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    f.latchkey.clock.advance(24 * 3_600_000 - 60_000);
    const begun = await begin();
    f.latchkey.clock.advance(120_000);
    expect(redirectOf(await end(begun))).toEqual(refusalFor("idp_unavailable"));
    expect(idp.asked("/token")).toBe(0);
  });
});

describe("another instance", () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  withOwnFederation(() => ({ keyring: createKeyring([oldKey]) }));

  test("takes a callback of a sign-on that began elsewhere; a third instance redeems the code", async () => {
    const pkce = newPkce();
    const begun = await begin(newBrowser(), { code_challenge: pkce.challenge });
    const other = await otherInstance({ keyring: createKeyring([oldKey]) });
    const { code = "" } = redirectOf(await endAt(other, begun));
    expect((await f.redeem({ code, pkce })).status).toBe(200);
    expect(redirectOf(await end(begun))).toEqual(refusalFor("callback_replay"));
  });

  test("with a new master key before the old one opens the old one's state (T53)", async () => {
    const begun = await begin();
    const rotated = await otherInstance({ keyring: createKeyring([newKey, oldKey]) });
    expect(redirectOf(await endAt(rotated, begun))).toEqual(codeRedirect());
  });

  test("400 attempt_invalid without the old master key (T53)", async () => {
    const begun = await begin();
    const answer = await endAt(await otherInstance({ keyring: createKeyring([newKey]) }), begun);
    expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    expect(idp.asked("/token")).toBe(0);
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });
});

/** The time limit of a call to a provider. */
const patience = (callMs: number) => () => ({
  egress: createEgress({ allowedOrigins: [idp.origin, second.origin], callMs }),
});

describe("a provider that does not answer", () => {
  withOwnFederation(patience(1500));

  test("303 temporarily_unavailable within the time limit; the next sign-on works as soon as it answers (T40, A57)", async () => {
    const attempts: Begun[] = [];
    for (let index = 0; index < 12; index++) attempts.push(await begin());
    const take = (count: number) => Promise.all(attempts.splice(0, count).map(end));
    idp.hooks.answer = { "/token": () => {} };
    for (const answer of await take(6)) expect(redirectOf(answer)).toEqual(refusalFor("token.unavailable"));
    for (const answer of await take(5)) expect(redirectOf(answer)).toEqual(refusalFor("token.unavailable"));
    expect(idp.asked("/token")).toBe(11);
    idp.hooks = {};
    expect(redirectOf(await end(attempts[0] as Begun))).toEqual(codeRedirect());
    expect(redirectOf(await end(await begin()))).toEqual(codeRedirect());
  });
});

describe("a provider that sends a byte every 50 ms", () => {
  withOwnFederation(patience(2500));

  test("sixty callbacks at once are all answered; another provider's sign-on is done first (T41, A57)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const attempts: Begun[] = [];
    for (let index = 0; index < 60; index++) attempts.push(await begin());
    const open = new Set<Socket>();
    idp.hooks.answer = {
      "/token": ({ socket }, response) => {
        open.add(socket);
        response.writeHead(200, { "Content-Type": "application/json" });
        const drip = setInterval(() => response.write(" "), 50);
        socket.once("close", () => {
          clearInterval(drip);
          open.delete(socket);
        });
      },
    };
    let isOver = false;
    const stuck = Promise.all(attempts.map(end)).finally(() => {
      isOver = true;
    });
    expect(redirectOf(await end(await begin(newBrowser(), { profile }, second)))).toEqual(codeRedirect());
    expect(isOver).toBe(false);
    // All sixty come from one address, which gets half of the places; the others wait, for at most the same time.
    const unnamed = ({ reference: _, ...rest }: Record<string, unknown>) => rest;
    const refusals = [refusalFor("token.unavailable"), refusalFor("source_busy")].map(unnamed);
    for (const answer of await stuck) expect(refusals).toContainEqual(unnamed(redirectOf(answer)));
    expect(idp.asked("/token")).toBeGreaterThanOrEqual(limits.idpInFlight / 2);
    await until(() => open.size === 0);
    expect(redirectOf(await end(await begin(newBrowser(), { profile }, second)))).toEqual(codeRedirect());
  });
});
