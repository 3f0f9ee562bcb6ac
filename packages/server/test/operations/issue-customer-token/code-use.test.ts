import { describe, expect, onTestFinished, test } from "vitest";
import { createApplicationKey, deleteApplicationKey } from "../../../src/contract/application-keys.ts";
import { getAuthenticationSettings } from "../../../src/contract/realms.ts";
import { updateStore } from "../../../src/contract/store.ts";
import { newCredential } from "../../../src/lib/secrets.ts";
import { getToken } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { newPkce, SHOP } from "../../support/federation.ts";
import {
  answers,
  attempts,
  awayAt,
  customers,
  exchanges,
  f,
  identities,
  isAlive,
  outcome,
  tokens,
  withOptions,
  withoutId,
} from "./exchange.ts";

/** A code works once, for 60 seconds, in its own store; an outage does not use it up. */

exchanges();

describe("the lifetime of a code", () => {
  test("200 before it is 60 seconds old, 400 from then on (T14, R9)", async () => {
    const [early, late] = [await f.signOn(), await f.signOn()];
    f.latchkey.clock.advance(59_999);
    expect((await f.redeem(early)).status).toBe(200);
    f.latchkey.clock.advance(1);
    expect(outcome(await f.redeem(late))).toEqual([400, "code_expired"]);
    f.latchkey.clock.advance(60_001);
    expect(outcome(await f.redeem(late))).toEqual([400, "code_expired"]);
    expect(await f.records()).toContainEqual(
      expect.objectContaining({ outcome: "expired", reason: "code_expired" }),
    );
  });

  test("is configurable (LATCHKEY_CODE_SECONDS)", async () => {
    await withOptions({ codeSeconds: 5 });
    const [early, late] = [await f.signOn(), await f.signOn()];
    f.latchkey.clock.advance(4999);
    expect((await f.redeem(early)).status).toBe(200);
    f.latchkey.clock.advance(1);
    expect(outcome(await f.redeem(late))).toEqual([400, "code_expired"]);
  });

  test("used and unused codes are swept, and stay refused (T14)", async () => {
    const [used, unused] = [await f.signOn(), await f.signOn()];
    await f.redeem(used);
    f.latchkey.clock.advance(2 * 3_600_000);
    await f.latchkey.app.tidy();
    expect(await attempts()).toEqual([]);
    const token = await f.store.token("implicit");
    for (const signedOn of [used, unused])
      expect(outcome(await f.redeem(signedOn, {}, { token }))).toEqual([400, "code_invalid"]);
  });
});

describe("a code of another store", () => {
  test("400 as for an unknown code; the code still works in its own store (T15, R31)", async () => {
    const signedOn = await f.signOn();
    const before = await attempts();
    const stranger = await f.latchkey.createStore();
    for (const token of [await stranger.token("implicit"), await stranger.token()]) {
      const foreign = await f.redeem(signedOn, {}, { token });
      const unknown = await f.redeem({ ...signedOn, code: newCredential("lkac") }, {}, { token });
      expect(outcome(foreign)).toEqual([400, "code_invalid"]);
      expect(withoutId(foreign)).toEqual(withoutId(unknown));
      const guess = await f.redeem(signedOn, { oauth_code_verifier: newPkce().verifier }, { token });
      expect(withoutId(guess)).toEqual(withoutId(unknown));
    }
    expect(await attempts()).toEqual(before);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("400 for a used code of another store; its token is not revoked (T15)", async () => {
    const signedOn = await f.signOn();
    const first = await f.redeem(signedOn);
    const stranger = await f.latchkey.createStore();
    f.latchkey.clock.advance(31_000);
    const token = await stranger.token("implicit");
    for (const changes of [{}, { oauth_code_verifier: newPkce().verifier }])
      expect(outcome(await f.redeem(signedOn, changes, { token }))).toEqual([400, "code_invalid"]);
    expect(await isAlive(first)).toBe(true);
  });
});

describe("the second use of a code", () => {
  test.each<[string, number, object, boolean]>([
    ["at once", 0, {}, true],
    ["after one second", 1000, {}, true],
    ["after 30 seconds", 30_000, {}, true],
    ["after more than 30 seconds", 30_001, {}, false],
    ["after 59 minutes", 59 * 60_000, {}, false],
    ["at once with a wrong verifier", 0, { oauth_code_verifier: "a".repeat(43) }, false],
    ["at once with another redirect URI", 0, { oauth_redirect_uri: `${SHOP}?shop=1` }, false],
  ])(
    "400 %s; the first token stays only after a harmless retry within 30 seconds (T16, R10)",
    async (_, afterMs, changes, stays) => {
      const signedOn = await f.signOn();
      const first = await f.redeem(signedOn);
      f.latchkey.clock.advance(afterMs);
      expect(outcome(await f.redeem(signedOn, changes))).toEqual([400, "code_already_used"]);
      expect(await isAlive(first)).toBe(stays);
      expect(await tokens()).toHaveLength(stays ? 1 : 0);
      expect(await f.records()).toMatchObject([
        { outcome: "exchanged", reason: stays ? null : "code_replayed" },
      ]);
    },
  );

  test("revokes the token of that code and no other token of the customer", async () => {
    const other = await f.redeem(await f.signOn());
    const signedOn = await f.signOn();
    const first = await f.redeem(signedOn);
    await f.redeem(signedOn, { oauth_code_verifier: newPkce().verifier });
    expect(await isAlive(first)).toBe(false);
    expect(await isAlive(other)).toBe(true);
  });

  test("the record keeps the customer whose token was revoked (T16)", async () => {
    const signedOn = await f.signOn();
    const { body } = await f.redeem(signedOn);
    await f.redeem(signedOn, { oauth_code_verifier: newPkce().verifier });
    expect(await f.records()).toMatchObject([
      { reason: "code_replayed", customer_id: body.data.customer_id },
    ]);
  });

  test("400 for the retry of a lost answer; a late retry revokes the lost token; the next sign-on works (T17)", async () => {
    const signedOn = await f.signOn();
    const lost = await f.redeem(signedOn);
    expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_already_used"]);
    f.latchkey.clock.advance(31_000);
    await f.redeem(signedOn);
    expect(await isAlive(lost)).toBe(false);
    const next = await f.redeem(await f.signOn());
    expect(next.body.data.customer_id).toBe(lost.body.data.customer_id);
    expect(await isAlive(next)).toBe(true);
  });
});

describe("a code that is refused", () => {
  test.each<[string, number, number, object]>([
    ["code_expired", 0, 60_000, {}],
    ["verifier_mismatch", 0, 0, { oauth_code_verifier: newPkce().verifier }],
    ["redirect_uri_mismatch", 0, 0, { oauth_redirect_uri: `${SHOP}?shop=1` }],
    ["code_already_used", 1, 0, {}],
  ])("400 %s with the reference of its sign-on", async (code, uses, afterMs, changes) => {
    const signedOn = await f.signOn();
    for (let use = 0; use < uses; use++) await f.redeem(signedOn);
    f.latchkey.clock.advance(afterMs);
    const answer = await f.redeem(signedOn, changes);
    expect(outcome(answer)).toEqual([400, code]);
    const [{ reference }] = await f.records();
    expect(answer.body.errors[0].meta).toEqual({ reference });
  });
});

describe("a request that is refused before the code is read (wire 12)", () => {
  test("401 for a bad bearer token; the same code works with a good one", async () => {
    const signedOn = await f.signOn();
    const before = await attempts();
    for (const token of [undefined, "x", f.implicit.slice(0, -1)])
      expect((await f.redeem(signedOn, {}, { token })).status).toBe(401);
    expect(await attempts()).toEqual(before);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("401 for a deleted application key; another key of the store may redeem the code (T24)", async () => {
    const { body } = await f.store.call(createApplicationKey, {
      json: { data: { type: "application_key", name: "Doomed" } },
    });
    const { id, client_id: clientId, client_secret: clientSecret } = body.data;
    const key = { ...f.store.key, clientId, clientSecret };
    const token = await getToken(f.latchkey.app, { ...f.store, key }, "implicit");
    const signedOn = await f.signOn();
    await f.store.call(deleteApplicationKey, { ids: { id } });
    expect((await f.redeem(signedOn, {}, { token })).status).toBe(401);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("429 with Retry-After and rate limit fields; the same request works after the wait (T20)", async () => {
    const signedOn = await f.signOn();
    await f.store.call(updateStore, { json: { data: { type: "store", rate_limit: 1 } } });
    const before = await attempts();
    const useUp = () => call(f.latchkey.app, getAuthenticationSettings, { token: f.implicit });
    for (let i = 0; i < 10; i++) await useUp();
    const refused = await f.redeem(signedOn);
    expect(outcome(refused)).toEqual([429, "rate_limit_exceeded"]);
    expect(refused.headers.has("ratelimit") && refused.headers.has("ratelimit-policy")).toBe(true);
    expect(await attempts()).toEqual(before);
    f.latchkey.clock.advance(Number(refused.headers.get("retry-after")) * 1000);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });
});

describe("a change of the profile while a redeem waits for its transaction", () => {
  const changes = {
    "switched off": { enabled: 0 },
    "closed to new people": { provisioning: "existing" },
  };
  test.each(Object.entries(changes))(
    "400 when the profile was %s; no customer is made",
    async (_, columns) => {
      const signedOn = await f.signOn();
      const { storage } = f.latchkey;
      const { transact } = storage;
      const customers = () => storage.db.selectFrom("customers").select("id").execute();
      const before = await customers();
      storage.transact = async (work) => {
        storage.transact = transact;
        await storage.db.updateTable("oidc_profiles").set(columns).execute();
        return storage.transact(work);
      };
      expect(outcome(await f.redeem(signedOn))).toEqual([400, "sign_on_refused"]);
      expect(await customers()).toEqual(before);
    },
  );
});

describe("an outage of the database (T19)", () => {
  test.each([false, true])(
    "503 at any statement, for good: %s; nothing is half done, and the code works afterwards (T18)",
    async (forGood) => {
      const signedOn = await f.signOn();
      // Warms the caches: statements that only the first request sends are done from here on.
      await f.redeem({ ...signedOn, code: newCredential("lkac") });
      const before = await attempts();
      const { storage } = f.latchkey;
      const { db: whole } = storage;
      onTestFinished(() => {
        storage.db = whole;
      });
      for (let statement = 0; ; statement++) {
        storage.db = awayAt(whole, statement, { forGood });
        const answer = await f.redeem(signedOn, {}, { headers: { "idempotency-key": "k" } });
        storage.db = whole;
        if (answer.status === 200) {
          expect(statement).toBeGreaterThan(8);
          expect(await isAlive(answer)).toBe(true);
          break;
        }
        expect([statement, ...outcome(answer)]).toEqual([statement, 503, "storage_unavailable"]);
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(await attempts()).toEqual(before);
        expect([await tokens(), await customers(), await identities(), await answers()]).toEqual([
          [],
          [],
          [],
          [],
        ]);
      }
    },
  );
});
