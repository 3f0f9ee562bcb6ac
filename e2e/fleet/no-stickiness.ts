import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { quickest, until } from "../../packages/server/test/support/until.ts";
import { GRACE } from "../support/honest-idp.ts";
import { getToken } from "../support/running.ts";
import { type Notebook, newNotebook, untilAnswered } from "./ask.ts";
import { redeem, signOn, tokenOf, visit, type World } from "./clients.ts";
import { canRunFleet, type Fleet, type Instance, startFleet } from "./fleet.ts";
import { openShop, type Shop, send } from "./shop.ts";
import { expectNoViolation } from "./under-load.ts";

/** The documented second, measured from the answer to the change. */
const WITHIN_MS = 1000;

describe.skipIf(!canRunFleet)("without sticky sessions", { timeout: 300_000 }, () => {
  let fleet: Fleet;
  let shop: Shop;
  let [a, b, c]: [Instance, Instance, Instance] = [] as never;
  let notebook: Notebook;
  let world: World;

  beforeAll(async () => {
    fleet = await startFleet();
    shop = await openShop(fleet);
    [a, b, c] = fleet.instances as [Instance, Instance, Instance];
  });
  afterAll(() => fleet?.close());
  beforeEach(() => {
    notebook = newNotebook();
    const { idp, publicUrl } = fleet;
    const everywhere = () => fleet.instances;
    const pick = () => a;
    world = { notebook, shop, idp, publicUrl, pick, everywhere, racesForPeople: false, isOver: () => false };
  });
  afterEach(() => expectNoViolation(notebook, fleet));

  test("authorize on A, callback on B, redemption on C: the shopper is signed in on every instance", async () => {
    for (const [first, second, third] of [
      [a, b, c],
      [b, c, a],
      [c, a, b],
    ] as const) {
      const signedOn = await signOn(world, GRACE, [first, second]);
      expect(signedOn).toBeDefined();
      if (!signedOn) return;
      const given = await redeem(world, third, signedOn, randomUUID());
      expect(given.status).toBe(200);
      const token = tokenOf(world, given);
      for (const instance of fleet.instances) expect((await visit(world, instance, token)).status).toBe(200);
      // The code is used up on every instance, at once.
      for (const instance of fleet.instances)
        expect((await redeem(world, instance, signedOn)).status).toBe(400);
    }
  });

  test("an answer that was lost on A is repeated on B, by its Idempotency-Key", async () => {
    const signedOn = await signOn(world, GRACE, [c, a]);
    expect(signedOn).toBeDefined();
    if (!signedOn) return;
    const key = randomUUID();
    const answers = [await redeem(world, a, signedOn, key), await redeem(world, b, signedOn, key)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.data).toEqual(answers[0]?.data);
  });

  /** The time after the change in which B and C still applied the old state. */
  async function knownAfterMs(isKnown: (instance: Instance) => Promise<boolean>): Promise<number> {
    const startedMs = performance.now();
    await Promise.all([b, c].map((instance) => until(() => isKnown(instance))));
    return performance.now() - startedMs;
  }
  const statusOf =
    (token: string) =>
    async ({ url }: Instance) =>
      (await send(url, token, "GET", "/v2/store")).status;

  test("an access token revoked on A is refused on B and C within a second", async () => {
    const { client_id, client_secret } = shop.work.made.application_key;
    const round = async () => {
      const token = await getToken(a.url, shop.work.made);
      for (const instance of fleet.instances) expect(await statusOf(token)(instance)).toBe(200);
      const body = new URLSearchParams({ token, client_id, client_secret });
      await fetch(`${a.url}/oauth/revoke`, { method: "POST", body });
      return knownAfterMs(async (at) => (await statusOf(token)(at)) === 401);
    };
    expect(await quickest(WITHIN_MS, round)).toBeLessThan(WITHIN_MS);
  });

  test("the tokens of a key deleted on A are refused on B and C within a second", async () => {
    const { admin } = shop.work;
    const round = async () => {
      const wanted = { type: "application_key", name: "Till" };
      const { data } = (await send(a.url, admin, "POST", "/v2/application-keys", wanted)).body;
      const { id, client_id, client_secret } = data as Record<"id" | "client_id" | "client_secret", string>;
      const made = { ...shop.work.made, application_key: { id, client_id, client_secret } };
      const token = await getToken(b.url, made);
      for (const instance of fleet.instances) expect(await statusOf(token)(instance)).toBe(200);
      expect((await send(a.url, admin, "DELETE", `/v2/application-keys/${id}`)).status).toBe(204);
      return knownAfterMs(async (at) => (await statusOf(token)(at)) === 401);
    };
    expect(await quickest(WITHIN_MS, round)).toBeLessThan(WITHIN_MS);
  });

  test("a reservation changed on A applies on B and C within a second", async () => {
    const { admin, floor } = shop.flooded;
    const policyAt = async ({ url }: Instance) => {
      const headers = { authorization: `Bearer ${floor.token}` };
      const answer = await fetch(`${url}/v2/customer-authentication-settings`, { headers });
      await answer.arrayBuffer();
      return answer.headers.get("ratelimit-policy") ?? "";
    };
    let reserved = 5;
    const round = async () => {
      const wanted = { type: "application_key", name: "floor", reserved_rate_limit: ++reserved };
      expect((await send(a.url, admin, "PUT", `/v2/application-keys/${floor.id}`, wanted)).status).toBe(200);
      return knownAfterMs(async (at) => (await policyAt(at)).startsWith(`"reserved";q=${reserved};`));
    };
    expect(await quickest(WITHIN_MS, round)).toBeLessThan(WITHIN_MS);
  });

  test("a password changed on A ends the sessions on B, where the old one is refused", async () => {
    const { admin, implicit } = shop.work;
    const [email, before, after] = ["ada@shop.example", randomUUID(), randomUUID()];
    const ada = { type: "customer", name: "Ada", email, password: before };
    const { id } = (await send(a.url, admin, "POST", "/v2/customers", ada)).body.data;
    const signIn = async ({ url }: Instance, password: string) =>
      send(url, implicit, "POST", "/v2/customers/tokens", { type: "token", email, password });
    const { data } = (await signIn(b, before)).body;
    const session = { tokenId: data.id as string, token: data.token as string, customer: id as string };
    for (const instance of fleet.instances) expect((await visit(world, instance, session)).status).toBe(200);
    const changed = { type: "customer", password: after };
    expect((await send(a.url, admin, "PUT", `/v2/customers/${id}`, changed)).status).toBe(200);
    for (const instance of [b, c]) {
      expect((await visit(world, instance, session)).status).toBe(403);
      expect((await signIn(instance, before)).status).toBe(400);
      expect((await signIn(instance, after)).status).toBe(200);
    }
  });

  test("fifty first sign-ons of one person, over three instances: one customer (I5)", async () => {
    const person = { ...GRACE, sub: "ada-1815", email: "ada-1815@shop.example" };
    const at = (index: number) => fleet.instances[index % 3] as Instance;
    const signedOn = await Promise.all(
      Array.from({ length: 50 }, (_, index) => signOn(world, person, [at(index), at(index + 1)])),
    );
    const given = await Promise.all(
      signedOn
        .filter((one) => one !== undefined)
        .map((one, index) => {
          const key = randomUUID();
          return untilAnswered(world.isOver, () => redeem(world, at(index + 2), one, key));
        }),
    );
    expect(given.length).toBeGreaterThan(10);
    expect(new Set(given.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(given.map(({ data }) => data.customer_id)).size).toBe(1);
  });
});
