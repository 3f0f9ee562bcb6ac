import { describe, expect, test } from "vitest";
import type { Provider } from "../parts/profiles.ts";
import { UNREGISTERED } from "../parts/profiles.ts";
import { openNotes } from "./notes.ts";
import { type Facts, stepsOf } from "./steps.ts";

const provider = (change: object = {}): Provider =>
  ({
    id: "p",
    name: "Keycloak",
    client_id: "latchkey",
    enabled: true,
    meta: { issuer: "https://idp.example" },
    realm: { id: "r", purpose: "customers" },
    ...change,
  }) as Provider;

const NONE: Facts = {
  providers: [],
  hasRedirectUri: false,
  isTested: false,
  hasShopper: false,
  hasColleague: false,
};

const done = (facts: Partial<Facts>) =>
  stepsOf({ ...NONE, ...facts }).flatMap(({ name, isDone }) => (isDone ? [name] : []));
const pathsOf = (facts: Partial<Facts>) =>
  Object.fromEntries(stepsOf({ ...NONE, ...facts }).map(({ name, act }) => [name, act?.to]));

describe("the first steps", () => {
  test.each<[string, Partial<Facts>, string[]]>([
    ["a new store has done none", {}, []],
    [
      "an enabled provider with a client and a known issuer counts",
      { providers: [provider()] },
      ["provider"],
    ],
    ["a disabled provider does not", { providers: [provider({ enabled: false })] }, []],
    ["a provider without a client does not", { providers: [provider({ client_id: UNREGISTERED })] }, []],
    [
      "a provider whose document was never read does not",
      { providers: [provider({ meta: { issuer: null } })] },
      [],
    ],
    [
      "a provider of members does not",
      { providers: [provider({ realm: { id: "m", purpose: "members" } })] },
      [],
    ],
    ["a redirect URI counts", { hasRedirectUri: true }, ["redirect-uri"]],
    ["a test that passed counts", { isTested: true }, ["test"]],
    ["a shopper who came through counts for the test too", { hasShopper: true }, ["test", "shopper"]],
    ["a second member counts", { hasColleague: true }, ["colleague"]],
  ])("%s", (_, facts, names) => {
    expect(done(facts)).toEqual(names);
  });

  test("lead to the screen where each is done; a test needs a provider first", () => {
    expect(pathsOf({})).toEqual({
      provider: "/providers/add",
      "redirect-uri": "/settings",
      test: undefined,
      shopper: undefined,
      colleague: "/members",
    });
    expect(pathsOf({ providers: [provider()] }).test).toBe("/realms/r/providers/p");
  });

  test("lead to a provider that was begun, not to a new one", () => {
    expect(pathsOf({ providers: [provider({ client_id: UNREGISTERED })] }).provider).toBe(
      "/providers/add?realm=r&profile=p",
    );
    expect(pathsOf({ providers: [provider({ enabled: false })] }).provider).toBe("/realms/r/providers/p");
  });
});

describe("the note about the first steps", () => {
  const kept = new Map<string, string>();
  const notes = openNotes({
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  });

  test("is a store's own", () => {
    notes.write("shop", "closed");
    expect([notes.read("shop"), notes.read("other")]).toEqual(["closed", undefined]);
  });

  test("in another form counts as none", () => {
    kept.set("latchkey:console:first-steps:shop", "{");
    expect(notes.read("shop")).toBeUndefined();
  });
});
