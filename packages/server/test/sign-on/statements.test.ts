import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createFederation, type Federation } from "../support/federation.ts";
import { watchStatements } from "../support/statements.ts";
import { until } from "../support/until.ts";

/** The statements of each step of a sign-on: on PostgreSQL each of them is a round trip. */

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
  // The first sign-on notes the algorithm of the provider's ID tokens: a change of the store, which empties its caches.
  await f.redeem(await f.signOn());
  // Warms caches such as the signing key.
  await f.redeem(await f.signOn());
});
afterAll(() => f.close());

/** Runs work, and lists its statements by verb and table. */
async function statementsOf<T>(work: () => Promise<T>): Promise<{ result: T; asked: string[] }> {
  const { storage } = f.latchkey;
  const { db: whole } = storage;
  onTestFinished(() => {
    storage.db = whole;
  });
  const asked: string[] = [];
  storage.db = watchStatements(storage, ({ sql }) => {
    const [verb = ""] = sql.split(" ");
    const found =
      verb === "select" ? [...sql.matchAll(/from "?(\w+)/g)] : [/(?:from|into|update) "?(\w+)/.exec(sql)];
    asked.push([verb, ...found.map((at) => at?.[1])].join(" "));
  }).db;
  const result = await work();
  storage.db = whole;
  return { result, asked };
}

test("a sign-on has no statement at authorize, two at the callback, eight at the first exchange and six later", async () => {
  f.idp.hooks.claims = (claims) => ({ ...claims, sub: "a new subject" });
  for (const made of [["insert customers", "insert customer_identities"], []]) {
    const { result: signedOn, asked } = await statementsOf(() => f.signOn());
    expect(asked).toEqual(["insert sign_on_attempts", "update sign_on_attempts"]);
    const { result: redeemed, asked: then } = await statementsOf(() => f.redeem(signedOn));
    expect(redeemed.status).toBe(200);
    expect(then).toEqual([
      "select sign_on_attempts",
      "update sign_on_attempts",
      "select customer_identities",
      "select ended_idp_sessions ended_idp_sessions erased_digests oidc_profiles",
      ...made,
      "insert customer_tokens",
      "insert event_outbox",
    ]);
  }
});

test("an unchanged document of the provider is written once in six hours", async () => {
  const [DISCOVERY, FIVE_MINUTES_MS] = ["/.well-known/openid-configuration", 5 * 60_000];
  f.idp.journal.length = 0;
  const { asked } = await statementsOf(async () => {
    for (let reading = 1; reading <= 80; reading++) {
      f.latchkey.clock.advance(FIVE_MINUTES_MS);
      expect((await f.signOn()).code).not.toBe("");
      await until(() => f.idp.asked(DISCOVERY) === reading);
    }
  });
  expect(asked.filter((one) => one === "update oidc_profiles")).toHaveLength(1);
});
