import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { getProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { updateAuthenticationSettings } from "../../src/contract/realms.ts";
import { createEgress } from "../../src/egress/egress.ts";
import { createFairPlaces } from "../../src/lib/fair-places.ts";
import type { Answer } from "../support/call.ts";
import { type Browser, createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { until } from "../support/until.ts";

/** Strangers come back with forged codes. Each source has a share of the places at a provider, so shoppers go on. */

let idp: HostileIdp;
let f: Federation;

beforeEach(async () => {
  idp = await startHostileIdp();
  const egress = createEgress({ allowedOrigins: [idp.origin], callMs: 60_000 });
  // The service's own numbers of places, with a long waiting time: the test must not depend on the machine's speed.
  const places = createFairPlaces({
    places: limits.idpInFlight,
    waiting: limits.idpWaiting,
    waitMs: 60_000,
  });
  f = await createFederation({ idp, egress, places });
});
afterEach(async () => {
  // Closes the provider first, so that the service's open requests to it end.
  await idp.close();
  await f.close();
});

const shopperAt = (peer: string): Browser => ({ cookie: undefined, peer });
const stranger = (n: number) => `203.0.113.${n % 250}`;

type Returning = () => Promise<Answer>;

/** Begins a sign-on, and returns the callback, with the provider's code or a forged one. */
async function comeBackLater(browser: Browser, madeUpCode?: string): Promise<Returning> {
  const location = (await f.begin(browser)).headers.get("location") ?? "";
  const state = new URL(location).searchParams.get("state") ?? "";
  const url =
    madeUpCode === undefined
      ? idp.signIn(location)
      : `${f.callbackUrl}?${new URLSearchParams({ code: madeUpCode, state })}`;
  return () => f.comeBack(browser, url);
}

const strangers = (count: number, peer: (n: number) => string): Promise<Returning[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => comeBackLater(shopperAt(peer(n)), `made-up-${n}`)));

const isWelcome = ({ headers }: Answer) => (headers.get("location") ?? "").startsWith(`${SHOP}?code=`);
const health = async () =>
  (await f.store.call(getProfile, { ids: { realm: f.realmId, id: f.profileId } })).body.data.meta.health
    .status;
const isMadeUp = (body: string) => body.includes("code=made-up");

/** The provider holds forged codes until `release`, and answers real ones. */
function holdMadeUpCodes() {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  idp.hooks.answer = {
    "/token": async (_, response, body) => {
      if (!isMadeUp(body)) return "honest";
      held++;
      await gate.promise;
      response.writeHead(400, { "Content-Type": "application/json" }).end('{"error":"invalid_grant"}');
      return undefined;
    },
  };
  return { held: () => held, release: gate.resolve };
}

describe("a provider that only forged codes make fail", () => {
  const failing: [string, (response: import("node:http").ServerResponse) => unknown][] = [
    ["answers 500", (response) => response.writeHead(500).end()],
    [
      "answers 503 in HTML",
      (response) => response.writeHead(503, { "Content-Type": "text/html" }).end("<p>"),
    ],
    ["answers 400", (response) => response.writeHead(400).end('{"error":"invalid_grant"}')],
  ];

  test.each(failing)("gets real codes although it %s, from any address", async (_, fail) => {
    idp.hooks.answer = {
      "/token": (_request, response, body) => {
        if (!isMadeUp(body)) return "honest";
        fail(response);
        return undefined;
      },
    };
    for (const comeBack of await strangers(30, stranger)) expect(isWelcome(await comeBack())).toBe(false);
    for (const comeBack of await strangers(30, () => stranger(1))) await comeBack();
    expect(await health()).not.toBe("down");
    for (const peer of ["198.51.100.1", stranger(1)])
      expect(isWelcome(await (await comeBackLater(shopperAt(peer)))())).toBe(true);
    expect(await health()).toBe("up");
  });

  test("gets real codes although it hangs up, also from the strangers' address", async () => {
    idp.hooks.answer = {
      "/token": (request, _response, body) => {
        if (!isMadeUp(body)) return "honest";
        request.socket.destroy();
        return undefined;
      },
    };
    for (const comeBack of await strangers(20, (n) => stranger(n % 2))) await comeBack();
    expect(idp.asked("/token")).toBe(20);
    expect(await health()).not.toBe("down");
    // Shoppers may share an address with strangers: behind a NAT, or through the storefront's server.
    for (const peer of [stranger(1), "198.51.100.1"])
      expect(isWelcome(await (await comeBackLater(shopperAt(peer)))())).toBe(true);
  });
});

describe("forged codes that the provider keeps waiting", () => {
  test("leave places for others when they come from five addresses", async () => {
    const { held, release } = holdMadeUpCodes();
    const waiting = (await strangers(100, (n) => stranger(n % 5))).map((comeBack) => comeBack());
    await until(() => held() >= 40);
    for (let n = 0; n < 5; n++)
      expect(isWelcome(await (await comeBackLater(shopperAt(`198.51.100.${n}`)))())).toBe(true);
    expect(held()).toBeLessThan(limits.idpInFlight);
    release();
    for (const answer of await Promise.all(waiting)) expect(isWelcome(answer)).toBe(false);
  });

  test("take at most half of the places when they come from an IPv6 /48", async () => {
    const { held, release } = holdMadeUpCodes();
    const waiting = (await strangers(60, (n) => `2001:db8:1:${n.toString(16)}::1`)).map((comeBack) =>
      comeBack(),
    );
    await until(() => held() >= limits.idpInFlight / 2);
    for (const peer of ["198.51.100.1", "2001:db8:2::1"])
      expect(isWelcome(await (await comeBackLater(shopperAt(peer)))())).toBe(true);
    expect(held()).toBe(limits.idpInFlight / 2);
    release();
    await Promise.all(waiting);
  });

  test("are sent fifty at a time when they come from many addresses; the others wait", async () => {
    const { held, release } = holdMadeUpCodes();
    const waiting = (await strangers(90, stranger)).map((comeBack) => comeBack());
    await until(() => held() === limits.idpInFlight);
    release();
    const locations = (await Promise.all(waiting)).map(({ headers }) => headers.get("location") ?? "");
    expect(locations.filter((location) => location.includes("temporarily_unavailable"))).toEqual([]);
    expect(held()).toBe(90);
  });

  test("leave places for others in the direct flow, too", async () => {
    await f.store.call(updateAuthenticationSettings, {
      json: { data: { type: "customer-authentication-settings", client_id: idp.clientId } },
    });
    const ids = { realm: f.realmId, id: f.profileId };
    await f.store.call(updateProfile, { ids, json: { data: { type: "oidc-profile", flow: "direct" } } });
    const { held, release } = holdMadeUpCodes();
    const pkce = newPkce();
    const redeem = (code: string, peer: string) => f.redeem({ code, pkce }, {}, { peer });
    const waiting = Array.from({ length: 80 }, (_, n) => redeem(`made-up-${n}`, stranger(1)));
    await until(() => held() >= 25);
    expect((await redeem("another", "198.51.100.1")).code).not.toBe("idp_unavailable");
    release();
    for (const { code } of await Promise.all(waiting)) expect(code).toBe("code_invalid");
  });
});

test("a shopper › 303 temporarily_unavailable without a place in time, with the reason source_busy", async () => {
  await f.close();
  f = await createFederation({ idp, places: createFairPlaces({ places: 1, waiting: 0, waitMs: 60_000 }) });
  const { held, release } = holdMadeUpCodes();
  const [first] = await strangers(1, stranger);
  const waiting = first?.();
  await until(() => held() === 1);
  const refused = await (await comeBackLater(shopperAt("198.51.100.1")))();
  const { searchParams } = new URL(refused.headers.get("location") ?? "");
  expect(searchParams.get("error")).toBe("temporarily_unavailable");
  expect(await f.recordOf(searchParams.get("reference") ?? "")).toMatchObject({ reason: "source_busy" });
  release();
  await waiting;
});

test("sixty shoppers of one address are all signed on at a slow provider", async () => {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  idp.hooks.answer = {
    "/token": async () => {
      held++;
      await gate.promise;
      return "honest";
    },
  };
  const returning: Returning[] = [];
  for (let n = 0; n < 60; n++) returning.push(await comeBackLater(shopperAt("198.51.100.7")));
  const answers = returning.map((comeBack) => comeBack());
  await until(() => held >= 25);
  gate.resolve();
  for (const answer of await Promise.all(answers)) expect(isWelcome(answer)).toBe(true);
});
