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
import { until } from "../../support/until.ts";
import {
  type Begun,
  begin,
  beside,
  callbackJourneys,
  changeProfile,
  eachAlone,
  end,
  endAt,
  f,
  idp,
  nobody,
  people,
  refusalFor,
  removeProfile,
  second,
  told,
  welcome,
} from "./journey.ts";

/** Between authorize and callback: settings change, another instance answers, the provider is slow. */

callbackJourneys();

describe("what changed while the shopper was away", () => {
  eachAlone();

  test("303 access_denied: the profile was disabled; others of the realm go on (T24, A09)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const [begun, other] = [await begin(), await begin(nobody(), { profile }, second)];
    await changeProfile({ enabled: false });
    idp.journal.length = 0;
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect(idp.journal).toEqual([]);
    expect(told(await end(other))).toEqual(welcome());
  });

  test("303 access_denied: the profile was deleted (T24)", async () => {
    const begun = await begin();
    await removeProfile();
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect(idp.asked("/token")).toBe(0);
  });

  test("303 access_denied: the profile was deleted and made again: it is another (A04)", async () => {
    const begun = await begin();
    await removeProfile();
    const profile = await f.addProfile();
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect((await endAt(f.latchkey.app, begun, { profile })).code).toBe("attempt_invalid");
  });

  test("400: the profile was disabled after the callback; the code is worth nothing (T24, A09)", async () => {
    const signedOn = await f.signOn();
    await changeProfile({ enabled: false });
    const answer = await f.redeem(signedOn);
    expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
    expect(await people()).toEqual({ customers: [], identities: [], tokens: [] });
    await changeProfile({ enabled: true });
    expect((await f.redeem(signedOn)).code).toBe("code_invalid");
  });

  test("400: the profile was turned direct after the callback; the code is void, also when it is turned back (T24)", async () => {
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

  test("400: the redirect URI was taken off the realm; there is nowhere to go back to (T24)", async () => {
    const begun = await begin();
    await f.changeRealm({ redirect_uris: [`${SHOP}?shop=1`, `${SHOP}/`] });
    const answer = await end(begun);
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.body).not.toContain("shop.example");
    expect(idp.asked("/token")).toBe(0);
    await f.changeRealm({ redirect_uris: [SHOP] });
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("404: the realm was deleted (T24)", async () => {
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

  test("303 access_denied: the profile was pointed at another provider, which is shown nothing of this sign-on (R79, A20)", async () => {
    const begun = await begin();
    const moved = await changeProfile({
      discovery_url: second.discoveryUrl,
      client_secret: second.clientSecrets[0],
    });
    expect(moved.status).toBe(200);
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect([idp.asked("/token"), second.asked("/token")]).toEqual([0, 0]);
  });

  test("the client secret was replaced: the new one is used", async () => {
    const begun = await begin();
    await changeProfile({ client_secret: "another secret" });
    expect(told(await end(begun))).toEqual(welcome());
    const sent = idp.journal.find(({ path }) => path === "/token")?.authorization ?? "";
    expect(atob(sent.slice("Basic ".length))).toBe("the-store:another%20secret");
  });

  test("303 temporarily_unavailable: our database went away; when it is back, the same sign-on goes on (T19)", async () => {
    const begun = await begin();
    const { storage } = f.latchkey;
    const { ahead } = storage;
    storage.ahead = async () => {
      throw Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    };
    expect(told(await end(begun))).toEqual(refusalFor("storage_unavailable"));
    expect(idp.asked("/token")).toBe(0);
    storage.ahead = ahead;
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("303 temporarily_unavailable: the provider's documents have become too old", async () => {
    await f.begin(nobody());
    idp.hooks.answer = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    f.latchkey.clock.advance(24 * 3_600_000 - 60_000);
    const begun = await begin();
    f.latchkey.clock.advance(120_000);
    expect(told(await end(begun))).toEqual(refusalFor("idp_unavailable"));
    expect(idp.asked("/token")).toBe(0);
  });
});

describe("another instance", () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  eachAlone(() => ({ keyring: createKeyring([oldKey]) }));

  test("takes the callback of a sign-on that began elsewhere, and a third one redeems its code", async () => {
    const pkce = newPkce();
    const begun = await begin(nobody(), { code_challenge: pkce.challenge });
    const other = await beside({ keyring: createKeyring([oldKey]) });
    const { code = "" } = told(await endAt(other, begun));
    expect((await f.redeem({ code, pkce })).status).toBe(200);
    expect(told(await end(begun))).toEqual(refusalFor("callback_replay"));
  });

  test("with a new master key before the old one opens what the old one sealed (T53)", async () => {
    const begun = await begin();
    const rotated = await beside({ keyring: createKeyring([newKey, oldKey]) });
    expect(told(await endAt(rotated, begun))).toEqual(welcome());
  });

  test("400: with the old master key taken away, it cannot be opened (T53)", async () => {
    const begun = await begin();
    const answer = await endAt(await beside({ keyring: createKeyring([newKey]) }), begun);
    expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    expect(idp.asked("/token")).toBe(0);
    expect(told(await end(begun))).toEqual(welcome());
  });
});

/** How long the service waits for a provider. */
const patience = (callMs: number) => () => ({
  egress: createEgress({ allowedOrigins: [idp.origin, second.origin], callMs }),
});

describe("a provider that does not answer", () => {
  eachAlone(patience(1500));

  test("303 temporarily_unavailable in bounded time, each of them; once it answers, the next one is signed on at once (T40, A57)", async () => {
    const attempts: Begun[] = [];
    for (let index = 0; index < 12; index++) attempts.push(await begin());
    const take = (count: number) => Promise.all(attempts.splice(0, count).map(end));
    idp.hooks.answer = { "/token": () => {} };
    for (const answer of await take(6)) expect(told(answer)).toEqual(refusalFor("token.unavailable"));
    for (const answer of await take(5)) expect(told(answer)).toEqual(refusalFor("token.unavailable"));
    expect(idp.asked("/token")).toBe(11);
    idp.hooks = {};
    expect(told(await end(attempts[0] as Begun))).toEqual(welcome());
    expect(told(await end(await begin()))).toEqual(welcome());
  });
});

describe("a provider that drips", () => {
  eachAlone(patience(2500));

  test("sixty at once: all are told, and another provider's sign-on is done first (T41, A57)", async () => {
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
    expect(told(await end(await begin(nobody(), { profile }, second)))).toEqual(welcome());
    expect(isOver).toBe(false);
    // All from one address: half of the places are for those. The others wait, and not for longer than anybody else.
    const unnamed = ({ reference: _, ...rest }: Record<string, unknown>) => rest;
    const refusals = [refusalFor("token.unavailable"), refusalFor("source_busy")].map(unnamed);
    for (const answer of await stuck) expect(refusals).toContainEqual(unnamed(told(answer)));
    expect(idp.asked("/token")).toBeGreaterThanOrEqual(limits.idpInFlight / 2);
    await until(() => open.size === 0);
    expect(told(await end(await begin(nobody(), { profile }, second)))).toEqual(welcome());
  });
});
