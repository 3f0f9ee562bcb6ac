import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createFederation, type Federation } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";

/** Providers choose the names and the shape of the JSON that they send. */

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
});
afterAll(() => f.close());
beforeEach(() => {
  f.idp.hooks = {};
  f.idp.person = { ...ADA };
});

/** Adds members by the names that every object inherits. */
const withNames = (document: object): object => ({
  ...JSON.parse(
    '{"__proto__":{"sub":"eve","email":"eve@evil.example"},"constructor":{"prototype":{"email":"eve@evil.example"}},"prototype":1}',
  ),
  ...document,
});

describe("a provider that names members `__proto__`, `constructor` and `prototype`", () => {
  test.each<[string, () => void]>([
    [
      "in ID tokens",
      () => {
        f.idp.hooks.claims = withNames;
      },
    ],
    [
      "in the header of ID tokens",
      () => {
        f.idp.hooks.header = withNames({});
      },
    ],
    [
      "in its token answers",
      () => {
        f.idp.hooks.token = withNames;
      },
    ],
    [
      "in UserInfo",
      () => {
        const { email, email_verified } = ADA;
        f.idp.person = { sub: ADA.sub };
        f.idp.hooks.userinfo = (claims) => withNames({ ...claims, email, email_verified });
      },
    ],
    [
      "in its document and its keys",
      () => {
        f.idp.hooks.discovery = withNames;
        f.idp.hooks.keys = ({ keys }) => withNames({ keys: keys.map(withNames) });
        f.latchkey.clock.advance(5 * 60_000);
      },
    ],
  ])("%s: people sign on as themselves", async (_, play) => {
    play();
    const { body } = await f.redeem(await f.signOn());
    const customer = body.data.customer_id;
    expect(customer).toMatch(/^[0-9a-f-]{36}$/);
    f.idp.hooks = {};
    f.idp.person = { ...ADA };
    expect((await f.redeem(await f.signOn())).body.data.customer_id).toBe(customer);
    expect(({} as { email?: string }).email).toBeUndefined();
  });
});

test("a refused ID token › the record names the member with too many levels", async () => {
  let groups: unknown = "deep";
  for (let level = 0; level < 20; level++) groups = [groups];
  f.idp.hooks.claims = (claims) => ({ ...claims, groups });
  const record = await f.recordOf((await f.signOn()).reference);
  expect(record).toMatchObject({
    reason: "id_token.json",
    means: "The JSON in the ID token has a member twice, half of a surrogate pair, or more than 8 levels.",
    remedy: expect.stringContaining("at which member"),
  });
  expect(record.checks.at(-1)).toEqual({
    check: "id_token.json",
    passed: false,
    expected: "at most 8 levels of JSON",
    found: 'more levels in the payload, at "groups"',
  });
});
