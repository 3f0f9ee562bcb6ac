import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createProfile, getProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { updateAuthenticationSettings } from "../../../src/contract/realms.ts";
import { openSecrets } from "../../../src/profiles/client-secret.ts";
import { findProfile, type Profile } from "../../../src/profiles/profile.ts";
import { type Answer, call } from "../../support/call.ts";
import { engines, type TestDatabase } from "../../support/engines.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../../support/hostile-idp.ts";
import { until } from "../../support/until.ts";

/** Two administrators change one profile: no acknowledged change is undone, and no provider gets another's secret. */

const DISCOVERY = "/.well-known/openid-configuration";

let f: Federation;
let first: HostileIdp;
let second: HostileIdp;

beforeAll(async () => {
  first = await startHostileIdp();
  second = await startHostileIdp();
});
afterAll(async () => {
  await first.close();
  await second.close();
});

async function open(url?: string): Promise<void> {
  const allowedOrigins = [first.origin, second.origin];
  f = await createFederation({ idp: first, allowedOrigins, ...(url && { databaseUrl: url }) });
  for (const provider of [first, second]) {
    provider.hooks = {};
    provider.person = { ...ADA };
    provider.now = f.latchkey.clock.now;
    provider.journal.length = 0;
  }
}

const ids = () => ({ realm: f.realmId, id: f.profileId });
const put = (data: object, headers: Record<string, string> = {}): Promise<Answer> =>
  f.store.call(updateProfile, { ids: ids(), json: { data: { type: "oidc-profile", ...data } }, headers });
const read = () => f.store.call(getProfile, { ids: ids() });
const row = async (): Promise<Profile> => {
  const key = { storeId: f.store.store.id, realmId: f.realmId, profileId: f.profileId };
  return (await findProfile(f.latchkey.storage.db, key)) as Profile;
};
const outcome = ({ status, code }: Answer) => (code === undefined ? `${status}` : `${status} ${code}`);

/** The settings that must belong together: the provider's address, the client id and the secret. */
const place = (provider: HostileIdp, name: string) => ({
  discovery_url: provider.discoveryUrl,
  client_id: `client ${name}`,
  client_secret: `secret ${name}`,
});
const storedPlace = async () => {
  const profile = await row();
  return {
    discovery_url: profile.discovery_url,
    client_id: profile.client_id,
    client_secret: openSecrets(f.latchkey, profile).current,
  };
};

/** Holds the provider's discovery document back until the test releases it. */
function hold(provider: HostileIdp) {
  const gate = Promise.withResolvers<void>();
  const asked = provider.asked(DISCOVERY);
  provider.hooks.answer = {
    [DISCOVERY]: async () => {
      await gate.promise;
      return "honest";
    },
  };
  return {
    isAsked: () => until(() => provider.asked(DISCOVERY) > asked),
    release: gate.resolve,
  };
}

const sawSecret = (provider: HostileIdp, name: string): boolean =>
  provider.journal.some(({ authorization }) =>
    Buffer.from(authorization?.slice("Basic ".length) ?? "", "base64")
      .toString()
      .includes(`secret%20${name}`),
  );

describe.each(engines)("changes of a profile on $name", (engine) => {
  let database: TestDatabase;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    await open(database.url);
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  test("409 for a slow PUT when the profile was moved meanwhile; the secret goes to no other provider (A55)", async () => {
    await put({ enabled: false });
    const held = hold(first);
    const slow = put({ enabled: true, client_secret: "secret slow" });
    await held.isAsked();
    const moved = await put({ ...place(second, "two"), enabled: true });
    expect(outcome(moved)).toBe("200");
    held.release();
    expect(outcome(await slow)).toBe("409 profile_changed");
    expect(await storedPlace()).toEqual(place(second, "two"));
    first.hooks = {};
    const begun = await f.begin({ cookie: undefined });
    expect(begun.headers.get("location")).toContain(`${second.origin}/authorize`);
    const browser = { cookie: undefined };
    const location = (await f.begin(browser)).headers.get("location") ?? "";
    await f.comeBack(browser, second.signIn(location));
    expect([sawSecret(first, "two"), sawSecret(second, "two")]).toEqual([false, true]);
  });

  test("409 for a slow move when another move was faster: address, client id and secret are one request's", async () => {
    const held = hold(second);
    const slow = put(place(second, "slow"));
    await held.isAsked();
    expect(outcome(await put(place(first, "quick")))).toBe("200");
    held.release();
    expect(outcome(await slow)).toBe("409 profile_changed");
    expect(await storedPlace()).toEqual(place(first, "quick"));
  });

  test("three moves at once: the stored profile is one acknowledged request's in every round", async () => {
    for (let round = 0; round < 6; round++) {
      const moves = [first, second, first].map((provider, index) => place(provider, `${round} ${index}`));
      const answers = await Promise.all(moves.map((move) => put(move)));
      for (const answer of answers) expect(["200", "409 profile_changed"]).toContain(outcome(answer));
      const acknowledged = moves.filter((_, index) => answers[index]?.status === 200);
      expect(acknowledged).toContainEqual(await storedPlace());
    }
  });

  test("a PUT writes only the members that it sends: a name and provisioning change beside each other", async () => {
    for (let round = 0; round < 6; round++) {
      const [renamed, provisioned, moved] = await Promise.all([
        put({ name: `name ${round}` }),
        put({ provisioning: round % 2 ? "create" : "existing" }),
        put(place(round % 2 ? first : second, `${round}`)),
      ]);
      expect([outcome(renamed), outcome(provisioned)]).toEqual(["200", "200"]);
      const { name, provisioning } = await row();
      expect([name, provisioning]).toEqual([`name ${round}`, round % 2 ? "create" : "existing"]);
      if (moved.status !== 200)
        expect(outcome(await put(place(round % 2 ? first : second, `${round}`)))).toBe("200");
      expect(await storedPlace()).toEqual(place(round % 2 ? first : second, `${round}`));
    }
  });

  test("enabled and made direct at once: the rules for direct profiles hold", async () => {
    await put({ enabled: false });
    const [on, direct] = await Promise.all([put({ enabled: true }), put({ flow: "direct" })]);
    const { enabled, flow } = await row();
    // The client id differs from the settings', so the profile must not be enabled and direct.
    expect([enabled, flow]).not.toEqual([true, "direct"]);
    for (const answer of [on, direct])
      expect(["200", "409 profile_changed", "422 direct_client_id_mismatch"]).toContain(outcome(answer));
  });
});

describe("If-Match", () => {
  beforeEach(() => open());
  afterEach(() => f.close());
  const tagOf = ({ headers }: Answer) => headers.get("etag") ?? "";

  test("200 with the current ETag; every read and every change has one, and a change gives another", async () => {
    const seen = tagOf(await read());
    expect(seen).toMatch(/^"[\x21\x23-\x7e]+"$/);
    expect(tagOf(await read())).toBe(seen);
    const changed = await put({ name: "Renamed" }, { "if-match": seen });
    expect(changed.status).toBe(200);
    expect(tagOf(changed)).not.toBe(seen);
    expect(tagOf(await read())).toBe(tagOf(changed));
    const public_ = await call(f.latchkey.app, getProfile, { ids: ids(), token: f.implicit });
    expect(tagOf(public_)).toBe(tagOf(changed));
  });

  test.each([
    ["an outdated one", (seen: string) => seen],
    ["another entity tag", () => '"another"'],
    ["a text without quotes", (seen: string) => seen.replaceAll('"', "")],
    ["none", () => ""],
  ])("409 profile_changed for %s; nothing changes, and the provider gets no request", async (_, of) => {
    const seen = tagOf(await read());
    await put({ name: "Renamed" });
    const before = await row();
    first.journal.length = 0;
    second.journal.length = 0;
    const answer = await put(place(second, "two"), { "if-match": of(seen) });
    expect(outcome(answer)).toBe("409 profile_changed");
    expect(await row()).toEqual(before);
    expect([...first.journal, ...second.journal]).toEqual([]);
  });

  test.each([
    ["any", () => "*"],
    ["several, of which one fits", (seen: string) => `"another", ${seen}`],
    ["an ETag that a compressing proxy has weakened", (seen: string) => `W/${seen}`],
  ])("200 for %s", async (_, of) => {
    const answer = await put({ name: "Renamed" }, { "if-match": of(tagOf(await read())) });
    expect(answer.status).toBe(200);
  });

  test("409 for one of two renames at once with the same ETag", async () => {
    const seen = tagOf(await read());
    const answers = await Promise.all(["a", "b", "c"].map((name) => put({ name }, { "if-match": seen })));
    expect(answers.map(outcome).sort()).toEqual(["200", "409 profile_changed", "409 profile_changed"]);
    const kept = answers.find(({ status }) => status === 200)?.body.data.name;
    expect((await row()).name).toBe(kept);
  });

  test("facts learned from the provider do not change the ETag", async () => {
    const seen = tagOf(await read());
    first.hooks.discovery = (document) => ({ ...document, token_endpoint: `${second.origin}/token` });
    f.latchkey.clock.advance(5 * 60_000);
    await f.begin({ cookie: undefined });
    expect((await read()).body.data.meta.pending_change).not.toBeNull();
    expect((await put({ name: "Renamed" }, { "if-match": seen })).status).toBe(200);
  });
});

describe("a PUT", () => {
  beforeEach(() => open());
  afterEach(() => f.close());

  test("404 when the profile was deleted during the provider's answer", async () => {
    const held = hold(second);
    const slow = put(place(second, "two"));
    await held.isAsked();
    await f.latchkey.storage.db.deleteFrom("oidc_profiles").where("id", "=", f.profileId).execute();
    held.release();
    expect(outcome(await slow)).toBe("404 profile_not_found");
  });

  test("that enables a direct profile is checked against the settings' client id", async () => {
    await f.store.call(updateAuthenticationSettings, {
      json: { data: { type: "customer-authentication-settings", client_id: "settings" } },
    });
    const data = {
      type: "oidc-profile",
      name: "Direct",
      flow: "direct",
      enabled: false,
      ...place(first, "x"),
    };
    const made = await f.store.call(createProfile, { ids: { realm: f.realmId }, json: { data } });
    const answer = await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: made.body.data.id },
      json: { data: { type: "oidc-profile", enabled: true } },
    });
    expect(outcome(answer)).toBe("422 direct_client_id_mismatch");
  });
});
