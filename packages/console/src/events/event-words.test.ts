import { expect, test } from "vitest";
import { staleAfter } from "../frame/live.ts";
import { actorInWords, eventInWords, KINDS, valueInWords } from "./event-words.ts";

const data = (resource: object) => ({
  resource: { type: "x", id: "1", ...resource },
  actor: { type: "operator" as const, id: null, name: null },
  request_id: null,
});

test.each([
  ["oidc_profile.updated", data({ name: "Company" }), ["Provider", "Company", "updated"]],
  ["sign_on.failed", data({ reference: "7K3M-Q9TX" }), ["Sign-on", "7K3M-Q9TX", "failed"]],
  ["application_key.deleted", data({ id: "0190-7" }), ["Key", "0190-7", "deleted"]],
  ["customer.erased", "(erased)" as const, ["Customer", "", "erased"]],
  ["oidc_profile.drift_detected", data({}), ["Provider", "", "change noticed at the provider"]],
  ["new_thing.some_act", data({}), ["New_thing", "", "some act"]],
])("%s is a sentence", (type, happened, [before, name, after]) => {
  expect(eventInWords({ type, data: happened })).toEqual({ before, name, after });
});

test("the actor is shown by name, or by kind", () => {
  expect(actorInWords({ type: "application_key", id: "1", name: "Shop" })).toEqual({
    before: "",
    name: "Shop",
    after: "(application key)",
  });
  expect(actorInWords({ type: "member", id: "7", name: null })).toEqual({
    before: "",
    name: "7",
    after: "(member)",
  });
  expect(actorInWords({ type: "operator", id: null, name: null })).toEqual({
    before: "the operator",
    name: "",
    after: "",
  });
});

test("a value is one line, and an absent value says so", () => {
  expect([null, "a", 5, ["a"]].map(valueInWords)).toEqual(["(none)", "a", "5", '["a"]']);
});

test("every type of event marks the screens that show it as stale", () => {
  const types = KINDS.flatMap(({ value }) => value.split(",")).filter(Boolean);
  expect(types.length).toBeGreaterThan(8);
  for (const type of types) expect(staleAfter(type.replace("*", "updated")), type).toBeDefined();
  expect(staleAfter("customer_token.revoked")).toBe("tokens");
  expect(staleAfter("something.else")).toBeUndefined();
});
