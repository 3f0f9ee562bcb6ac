import { afterAll, beforeAll, expect, test } from "vitest";
import { listRealms } from "../src/contract/realms.ts";
import { createTestApp, type TestApp, type TestStore } from "./support/app.ts";
import { latchkey as run } from "./support/command.ts";
import { sqliteEngine, type TestDatabase } from "./support/engines.ts";

let database: TestDatabase;
let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  database = await sqliteEngine.create();
  latchkey = await createTestApp({ databaseUrl: database.url });
  store = await latchkey.createStore();
});
afterAll(async () => {
  await latchkey?.close();
  await database?.drop();
});

const member = (...args: string[]) =>
  run(["member", ...args], {
    LATCHKEY_DATABASE_URL: database.url,
    LATCHKEY_PUBLIC_URL: "https://keys.example",
  });
const ofStore = () => ["--store", store.store.id];

test("add creates the first member and the realm, and prints the next step; list and remove follow", async () => {
  const added = await member("add", ...ofStore(), "--email", "Ada@shop.example", "--role", "administrator");
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining("Ada@shop.example, administrator")]);
  const realms = (await store.call(listRealms)).body.data;
  const realm = realms.find(({ purpose }: { purpose: string }) => purpose === "members");
  expect(realm.redirect_uris).toEqual(["https://keys.example/console/signed-in"]);
  expect(added.stdout).toContain(`https://keys.example/v2/authentication-realms/${realm.id}/oidc-profiles`);
  expect(added.stdout).toContain("callback-endpoint");
  expect(added.stdout).toContain(`https://keys.example/console/sign-in?store=${store.store.id}\n`);
  const args = ["--email", "sue@shop.example", "--role", "support", "--name", "Sue", "--json"];
  const { member: sue, realm: same } = JSON.parse((await member("add", ...ofStore(), ...args)).stdout);
  expect([sue.name, sue.meta.status, same.id]).toEqual(["Sue", "invited", realm.id]);
  const listed = JSON.parse((await member("list", ...ofStore(), "--json")).stdout);
  expect(listed.members.map(({ role }: { role: string }) => role)).toEqual(["administrator", "support"]);
  expect((await member("list", ...ofStore())).stdout).toMatch(
    /sue@shop\.example +Sue +support +invited +never/,
  );
  expect((await member("remove", ...ofStore(), "--id", sue.id, "--yes")).stdout).toBe(`removed ${sue.id}\n`);
  expect((await member("remove", ...ofStore(), "--id", sue.id, "--yes")).stderr).toContain(
    "no member with this id",
  );
});

test("add prints no address of the console where the public URL has a path, because there is no console", async () => {
  const below = {
    LATCHKEY_DATABASE_URL: database.url,
    LATCHKEY_PUBLIC_URL: "https://shop.example/keys",
  };
  const args = ["--email", "below@shop.example", "--role", "support"];
  const { code, stdout } = await run(["member", "add", ...ofStore(), ...args], below);
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining("There is no console here: LATCHKEY_PUBLIC_URL"),
  ]);
  expect(stdout).not.toContain("/console/");
});

test("invalid commands are explained", async () => {
  const faults = await Promise.all([
    member("add", ...ofStore(), "--email", "nobody", "--role", "viewer"),
    member("add", ...ofStore(), "--email", "a@shop.example", "--role", "owner"),
    member("fire"),
  ]);
  expect(faults.map(({ code }) => code)).toEqual([2, 2, 2]);
  const words = [
    "one e-mail address",
    "there is viewer, support, administrator",
    'member has no command "fire"',
  ];
  for (const [at, { stderr }] of faults.entries()) expect(stderr).toContain(words[at]);
});
