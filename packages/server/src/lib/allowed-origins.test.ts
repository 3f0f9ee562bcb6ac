import { expect, test } from "vitest";
import { isAllowedOrigin, originsFor } from "./allowed-origins.ts";

const [ONE, OTHER] = ["01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002"];
const ORIGIN = "http://10.0.0.1:9000";

test.each([
  [ORIGIN, ["one idp", "one webhook", "other idp", "other webhook"]],
  [`idp=${ORIGIN}`, ["one idp", "other idp"]],
  [`webhook=${ORIGIN}`, ["one webhook", "other webhook"]],
  [`${ONE}=${ORIGIN}`, ["one idp", "one webhook"]],
  [`${ONE}/webhook=${ORIGIN}`, ["one webhook"]],
])("%s is for %j", (entry, allowed) => {
  expect(isAllowedOrigin(entry)).toBe(true);
  const found = Object.entries({ one: ONE, other: OTHER }).flatMap(([name, storeId]) =>
    (["idp", "webhook"] as const)
      .filter((purpose) => originsFor([entry], { storeId, purpose }).includes(ORIGIN))
      .map((purpose) => `${name} ${purpose}`),
  );
  expect(found).toEqual(allowed);
});

test.each([
  `=${ORIGIN}`,
  `shop=${ORIGIN}`,
  `${ONE}/=${ORIGIN}`,
  `${ONE}idp=${ORIGIN}`,
  `idp/${ONE}=${ORIGIN}`,
  `${ONE}/idp`,
  "idp=10.0.0.1:9000",
  `idp=${ORIGIN}/path`,
  `idp=idp=${ORIGIN}`,
  "ftp://10.0.0.1",
])("%s is refused: an entry with a mistake must not apply to all stores", (entry) => {
  expect(isAllowedOrigin(entry)).toBe(false);
  expect(originsFor([entry], { storeId: undefined, purpose: undefined })).toEqual([]);
});

test("an operator's command, which belongs to no store, may call the origins of any store", () => {
  expect(originsFor([`${ONE}/idp=${ORIGIN}`], { storeId: undefined, purpose: "idp" })).toEqual([ORIGIN]);
  expect(originsFor([`${ONE}/idp=${ORIGIN}`], { storeId: "", purpose: "idp" })).toEqual([]);
});
