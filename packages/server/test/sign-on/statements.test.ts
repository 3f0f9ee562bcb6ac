import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createFederation, type Federation } from "../support/federation.ts";
import { watchStatements } from "../support/statements.ts";
import { until } from "../support/until.ts";

/** What each leg of a sign-on asks of the database: on PostgreSQL each of them is a round trip. */

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
  // The first sign-on notes the algorithm of the provider's ID tokens, a change of the store that drops what is cached of it.
  await f.redeem(await f.signOn());
  // What is read the first time only, such as the signing key, is known from here on.
  await f.redeem(await f.signOn());
});
afterAll(() => f.close());

/** The statements of a piece of work, each by its verb and its table, or all that it reads. */
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

test("authorize asks nothing of a place that is known, the callback twice, an exchange eight times for somebody new and six times after that", async () => {
  f.idp.hooks.claims = (claims) => ({ ...claims, sub: "somebody new" });
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

test("that a provider's document was read again, and was the same, is written once in six hours", async () => {
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
