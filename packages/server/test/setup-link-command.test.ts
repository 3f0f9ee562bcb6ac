import { afterAll, beforeAll, expect, test } from "vitest";
import { createProfile } from "../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../src/contract/realms.ts";
import { visit } from "./operations/setup-links/links.ts";
import { createTestApp, type TestApp, type TestStore } from "./support/app.ts";
import { latchkey as run } from "./support/command.ts";
import { sqliteEngine, type TestDatabase } from "./support/engines.ts";

let database: TestDatabase;
let latchkey: TestApp;
let store: TestStore;
let profile: string;

beforeAll(async () => {
  database = await sqliteEngine.create();
  latchkey = await createTestApp({ databaseUrl: database.url });
  store = await latchkey.createStore();
  const realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
  const data = {
    type: "oidc-profile",
    name: "Company account",
    discovery_url: "https://idp.example",
    client_id: "c",
    enabled: false,
  };
  profile = (await store.call(createProfile, { ids: { realm }, json: { data } })).body.data.id;
  // The command's clock is the machine's.
  latchkey.clock.set(Date.now());
});
afterAll(async () => {
  await latchkey?.close();
  await database?.drop();
});

const setupLink = (...args: string[]) =>
  run(["setup-link", ...args], {
    LATCHKEY_DATABASE_URL: database.url,
    LATCHKEY_PUBLIC_URL: "https://keys.example",
  });

test("create prints the address once; show has the link without it; delete ends the link", async () => {
  const created = await setupLink("create", profile, "--days", "3");
  const [, token = ""] = /^https:\/\/keys\.example\/setup\/(lksl_\w+)\n/.exec(created.stdout) ?? [];
  expect([created.code, (await visit(latchkey, token)).status]).toEqual([0, 200]);
  const listed = await setupLink("show", profile);
  expect(listed.stdout).toMatch(/^id +made +works until\n/);
  expect(listed.stdout).not.toContain(token);
  const [link] = JSON.parse((await setupLink("show", profile, "--json")).stdout).setup_links;
  expect((await setupLink("delete", link.id, "--profile", profile, "--yes")).stdout).toBe(
    `deleted ${link.id}\n`,
  );
  expect((await visit(latchkey, token)).status).toBe(404);
  expect((await setupLink("show", profile)).stdout).toBe("no set-up link works\n");
});

test("invalid commands are explained", async () => {
  const unknown = "01890000-0000-7000-8000-000000000000";
  const faults = await Promise.all([
    setupLink("create", profile, "--days", "31"),
    setupLink("create", unknown),
    setupLink("delete", unknown, "--profile", profile, "--yes"),
  ]);
  expect(faults.map(({ code }) => code)).toEqual([2, 1, 1]);
  const words = ["--days must be a whole number from 1 to 30", "no OIDC profile", "no such set-up link"];
  for (const [at, { stderr }] of faults.entries()) expect(stderr).toContain(words[at]);
});
