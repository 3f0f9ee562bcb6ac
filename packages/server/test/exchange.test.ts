import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createProfile, getProfile, updateProfile } from "../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../src/contract/realms.ts";
import { createEgress } from "../src/egress/egress.ts";
import { toIso } from "../src/lib/clock.ts";
import { createKeyring } from "../src/lib/keyring.ts";
import type { Metadata } from "../src/openid/discovery.ts";
import { type Calls, createCalls } from "../src/profiles/calls.ts";
import { exchangeWithSecrets, openSecrets, resealSecrets } from "../src/profiles/client-secret.ts";
import { Directory } from "../src/profiles/directory.ts";
import { findProfile, type Profile } from "../src/profiles/profile.ts";
import { createTestApp, type TestApp, type TestStore } from "./support/app.ts";
import { type HostileIdp, startHostileIdp } from "./support/hostile-idp.ts";
import { happenedIn } from "./support/log.ts";

/** The redemption of a code at the identity provider. */

const FIRST = randomBytes(32);

let latchkey: TestApp;
let store: TestStore;
let idp: HostileIdp;
let calls: Calls;
let realmId: string;

beforeAll(async () => {
  idp = await startHostileIdp();
});
afterAll(() => idp.close());
beforeEach(async () => {
  idp.hooks = {};
  idp.journal.length = 0;
  latchkey = await createTestApp({ allowedOrigins: [idp.origin], keyring: createKeyring([FIRST]) });
  store = await latchkey.createStore(10_000);
  realmId = (await store.call(getAuthenticationSettings)).body.data.realm_id;
  const egress = createEgress({ allowedOrigins: [idp.origin], callMs: 1500 });
  calls = createCalls({ egress, clock: latchkey.clock });
});
afterEach(() => latchkey.close());

async function newProfile(data: object = {}): Promise<Profile> {
  const given = {
    type: "oidc-profile",
    name: "n",
    discovery_url: idp.discoveryUrl,
    client_id: idp.clientId,
    client_secret: "s",
  };
  const { body } = await store.call(createProfile, {
    ids: { realm: realmId },
    json: { data: { ...given, ...data } },
  });
  return reread(body.data.id);
}

const reread = async (profileId: string) =>
  (await findProfile(latchkey.storage.db, { storeId: store.store.id, realmId, profileId })) as Profile;

function exchange(profile: Profile, { keyring } = latchkey) {
  const deps = { ...latchkey, calls, keyring, allowedOrigins: [idp.origin] };
  const client = new Directory(deps).clientOf(profile, profile.metadata as Metadata);
  return exchangeWithSecrets(deps, profile, client, {
    idpCode: "the code",
    idpVerifier: "the verifier",
    idpRedirectUri: "https://keys.example/cb",
  });
}

/** Accepts these secrets alone, as a provider that follows RFC 6749 2.3.1. */
const knows = (...secrets: string[]) => {
  idp.hooks.answer = {
    "/token": (request, response) => {
      const [id, secret] = atob(request.headers.authorization?.slice("Basic ".length) ?? "").split(":");
      const decode = (text = "") => decodeURIComponent(text.replaceAll("+", " "));
      const isKnown = decode(id) === idp.clientId && secrets.includes(decode(secret));
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
      response.end(
        JSON.stringify(isKnown ? { id_token: "x", token_type: "Bearer" } : { error: "invalid_client" }),
      );
    },
  };
};

test("sends code, verifier and redirect URI with client_secret_basic, and nothing in the URL", async () => {
  expect(await exchange(await newProfile())).toEqual({
    tokens: expect.objectContaining({ access_token: "at" }),
    secret: "current",
  });
  const sent = idp.journal.at(-1);
  expect(sent).toMatchObject({ method: "POST", path: "/token" });
  expect(Object.fromEntries(new URLSearchParams(sent?.body))).toEqual({
    grant_type: "authorization_code",
    code: "the code",
    code_verifier: "the verifier",
    redirect_uri: "https://keys.example/cb",
  });
});

test("a secret of any characters arrives unchanged (N70)", async () => {
  const secret = "a:b+c%/ &=é";
  knows(secret);
  expect(await exchange(await newProfile({ client_secret: secret }))).toHaveProperty("tokens");
});

test.each<[string, (text: string) => string]>([
  ["as forms are", (text) => decodeURIComponent(text.replaceAll("+", " "))],
  ["as percent signs alone", decodeURIComponent],
])("a secret with a space arrives at a provider that decodes credentials %s", async (_, decode) => {
  const credentials: string[] = [];
  idp.hooks.answer = {
    "/token": (request) => {
      credentials.push(...atob(request.headers.authorization?.slice("Basic ".length) ?? "").split(":"));
      return "honest";
    },
  };
  await exchange(await newProfile({ client_id: "the shop", client_secret: "one two+three" }));
  expect(credentials.map(decode)).toEqual(["the shop", "one two+three"]);
});

test("an answer that quotes the request is recorded without secret, code and verifier, in every encoding", async () => {
  const profile = await newProfile({ client_id: "shop", client_secret: "s3cret+/ é" });
  let sent = "";
  idp.hooks.answer = {
    "/token": (request, response) => {
      const header = request.headers.authorization ?? "";
      sent = `${header}, ${atob(header.slice("Basic ".length))}, ${idp.journal.at(-1)?.body}, s3cret+/ é`;
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: "invalid_request", error_description: sent }));
    },
  };
  const refused = await exchange(profile);
  expect(sent).toMatch(/^Basic .{20,39}, shop:s3cret%2B%2F%20.*&code=the\+code&/);
  const { error_description: kept } = (refused as Extract<typeof refused, { reason: string }>).answer;
  expect(kept).toBe(
    "Basic (left out), shop:(left out), grant_type=authorization_code&code=(left out)" +
      "&redirect_uri=https%3A%2F%2Fkeys.example%2Fcb&code_verifier=(left out), (left out)",
  );
});

describe("two secrets", () => {
  test("the next one is tried when the first is refused, and replaces it when it works", async () => {
    const profile = await newProfile({ client_secret: "old", client_secret_next: "new" });
    knows("new");
    const events = await happenedIn(latchkey, store, async () => {
      expect(await exchange(profile)).toHaveProperty("tokens");
    });
    expect(idp.asked("/token")).toBe(2);
    const { body } = await store.call(getProfile, { ids: { realm: realmId, id: profile.id } });
    expect(body.data.meta.has_next_client_secret).toBe(false);
    expect(events).toMatchObject([
      {
        type: "oidc_profile.updated",
        subject: profile.id,
        data: {
          actor: { type: "service" },
          changes: { client_secret: "(changed)", client_secret_next: "(changed)" },
        },
      },
    ]);
    expect(await exchange(await reread(profile.id))).toHaveProperty("tokens");
    expect(idp.asked("/token")).toBe(3);
  });

  test("a change that is based on the state before the replacement is refused", async () => {
    const profile = await newProfile({ client_secret: "old", client_secret_next: "new" });
    knows("new");
    await exchange(profile);
    const { status, body } = await store.call(updateProfile, {
      ids: { realm: realmId, id: profile.id },
      headers: { "if-match": `"${toIso(profile.updated_at)}"` },
      json: { data: { type: "oidc-profile", client_secret_next: null } },
    });
    expect([status, body.errors[0].code]).toEqual([409, "profile_changed"]);
  });

  test("the next one stays the next while the first works, and when both are refused", async () => {
    const profile = await newProfile({ client_secret: "old", client_secret_next: "new" });
    knows("old");
    expect(await exchange(profile)).toHaveProperty("tokens");
    expect(idp.asked("/token")).toBe(1);
    knows();
    expect(await exchange(profile)).toMatchObject({ reason: "token.client_refused" });
    expect((await reread(profile.id)).sealed_client_secret_next).toBe(profile.sealed_client_secret_next);
  });

  test("the next one is sealed with the first master key, also where every value was resealed since it was read", async () => {
    const profile = await newProfile({ client_secret: "old", client_secret_next: "new" });
    const { storage } = latchkey;
    const keyring = createKeyring([randomBytes(32), FIRST]);
    knows("new");
    await resealSecrets({ storage, keyring });
    await exchange(profile, { ...latchkey, keyring });
    expect(openSecrets({ keyring }, await reread(profile.id))).toEqual({ current: "new", next: undefined });
    expect(await resealSecrets({ storage, keyring })).toEqual({ resealed: 0, kept: 1 });
  });

  test("the next one is sealed with the first master key, also before `rotate-keys` has reached it", async () => {
    const profile = await newProfile({ client_secret: "old", client_secret_next: "new" });
    const { storage } = latchkey;
    const keyring = createKeyring([randomBytes(32), FIRST]);
    knows("new");
    await exchange(profile, { ...latchkey, keyring });
    expect(await resealSecrets({ storage, keyring })).toEqual({ resealed: 0, kept: 1 });
  });

  test("one that works while the profile is moved is not carried over to the new provider (A55)", async () => {
    const profile = await newProfile({ client_secret: "old", client_secret_next: "new" });
    const moved = {
      type: "oidc-profile",
      client_id: "another",
      client_secret: "moved",
      client_secret_next: "m2",
    };
    idp.hooks.answer = {
      "/token": async (request, response) => {
        const isNext = atob(request.headers.authorization?.slice("Basic ".length) ?? "").endsWith(":new");
        if (isNext)
          await store.call(updateProfile, { ids: { realm: realmId, id: profile.id }, json: { data: moved } });
        response.writeHead(isNext ? 200 : 401, { "content-type": "application/json" });
        response.end(
          JSON.stringify(isNext ? { id_token: "x", token_type: "Bearer" } : { error: "invalid_client" }),
        );
      },
    };
    expect(await exchange(profile)).toHaveProperty("tokens");
    expect(openSecrets(latchkey, await reread(profile.id))).toEqual({ current: "moved", next: "m2" });
  });

  test("a code is not sent again after any other refusal (N74)", async () => {
    const profile = await newProfile({ client_secret_next: "new" });
    idp.hooks.answer = {
      "/token": (_, response) => {
        response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
      },
    };
    expect(await exchange(profile)).toMatchObject({ reason: "token.refused" });
    expect(idp.asked("/token")).toBe(1);
  });
});

const json = { "content-type": "application/json" };
const broken: [string, string, NonNullable<HostileIdp["hooks"]["answer"]>[string]][] = [
  ["an error with status 200", "refused", (_, r) => void r.writeHead(200, json).end('{"error":"x"}')],
  ["HTML", "not_json", (_, r) => void r.writeHead(200, { "content-type": "text/html" }).end("<p>")],
  ["nothing", "not_json", (_, r) => void r.writeHead(200, json).end()],
  ["half of a JSON", "not_json", (_, r) => void r.writeHead(200, json).end('{"id_token":')],
  ["an array", "not_json", (_, r) => void r.writeHead(200, json).end("[]")],
  ["a member twice", "duplicate_member", (_, r) => void r.writeHead(200, json).end('{"a":1,"a":2}')],
  ["a megabyte", "too_large", (_, r) => void r.writeHead(200, json).end("x".repeat(1_000_000))],
  ["a redirect", "status_not_200", (_, r) => void r.writeHead(307, { location: "/keys" }).end()],
  ["500", "status_not_200", (_, r) => void r.writeHead(500).end()],
  [
    "a reset in the middle",
    "answer_broken",
    (_, r) => void r.writeHead(200, { ...json, "content-length": "100" }).write("{", () => r.destroy()),
  ],
  ["no answer at all (T40)", "too_slow", () => {}],
];

test.each(broken)(
  "%s from the token endpoint is %s, within the time limit (N73 to N75)",
  async (_, reason, answer) => {
    const profile = await newProfile();
    idp.hooks.answer = { "/token": answer };
    const isRefusal = reason === "refused";
    expect(await exchange(profile)).toMatchObject({
      reason: isRefusal ? "token.refused" : "token.unavailable",
      answer: { call: "token", fault: isRefusal ? null : reason },
    });
    idp.hooks = {};
    latchkey.clock.advance(10_000);
    expect(await exchange(profile)).toHaveProperty("tokens");
  },
);

test("fifty sign-ons at a slow provider all end in time; another provider is not affected (T41)", async () => {
  const [dripping, healthy] = [await newProfile(), await newProfile()];
  idp.hooks.answer = {
    "/token": (request, response) => {
      if (request.headers.authorization?.includes("x")) response.end();
    },
  };
  const stuck = Promise.all(Array.from({ length: 50 }, () => exchange(dripping)));
  const answered = await calls.send(healthy.id, {
    kind: "discovery",
    url: idp.discoveryUrl,
    maxBytes: 65_536,
  });
  expect(answered.status).toBe(200);
  expect(new Set((await stuck).map((result) => ("reason" in result ? result.answer.fault : "none")))).toEqual(
    new Set(["too_slow"]),
  );
  expect(await exchange(dripping)).toMatchObject({ answer: { fault: "too_slow" } });
  expect(calls.healthOf(dripping.id)?.status).toBe("degraded");
  expect(calls.healthOf(healthy.id)).toBeUndefined();
});
