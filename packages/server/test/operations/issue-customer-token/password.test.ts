import * as argon2 from "@node-rs/argon2";
import { describe, expect, test, vi } from "vitest";
import { issueCustomerToken, listCustomerTokens } from "../../../src/contract/customer-tokens.ts";
import { listCustomers, updateCustomer } from "../../../src/contract/customers.ts";
import { createPasswords } from "../../../src/passwords/password.ts";
import { toRequest } from "../../support/call.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { until } from "../../support/until.ts";
import {
  ask,
  awayAt,
  EMAIL,
  exchanges,
  f,
  newCustomer,
  outcome,
  PASSWORD,
  tokens,
  withOptions,
  withoutId,
  withPassword,
} from "./exchange.ts";

/** Sign-in with e-mail and password. */

exchanges();

describe("e-mail and password", () => {
  test.each([["email"], ["password"], [undefined]])(
    "200 with the mechanism %s (wire 8, 12)",
    async (mechanism) => {
      const id = await newCustomer();
      const answer = await ask({ authentication_mechanism: mechanism, email: EMAIL, password: PASSWORD });
      expect([answer.status, answer.body.data.customer_id]).toEqual([200, id]);
      const list = await f.store.call(listCustomerTokens, { ids: { customer: id } });
      expect(list.body.data).toMatchObject([{ authentication_mechanism: "password", profile_name: null }]);
    },
  );

  test("400 for an unknown mechanism; the detail lists the known ones", async () => {
    const { body } = await ask({
      authentication_mechanism: "passwordless",
      email: EMAIL,
      password: PASSWORD,
    });
    expect(body.errors).toMatchObject([
      {
        detail: '`authentication_mechanism`: expected "oidc" or "email" or "password".',
        source: { pointer: "/data/authentication_mechanism" },
      },
    ]);
  });

  test("200 for the e-mail in any case, with the back office's token, too", async () => {
    const id = await newCustomer();
    const { body } = await withPassword("ADA@SHOP.EXAMPLE", PASSWORD, { token: await f.store.token() });
    expect(body.data.customer_id).toBe(id);
  });

  test("400 with the same answer for a wrong password, an unknown e-mail and a malformed one", async () => {
    await newCustomer();
    const refused = [
      await withPassword(EMAIL, "another horse"),
      await withPassword(EMAIL, ""),
      await withPassword("unknown@shop.example"),
      await withPassword("unknown@shop.example", ""),
      await withPassword("no address"),
      await withPassword(""),
    ];
    for (const answer of refused) expect(outcome(answer)).toEqual([400, "credentials_wrong"]);
    expect(new Set(refused.map((answer) => JSON.stringify(withoutId(answer)))).size).toBe(1);
    expect(await tokens()).toEqual([]);
  });

  test("400 for a customer of another store (A33)", async () => {
    await newCustomer();
    const stranger = await f.latchkey.createStore();
    const answer = await withPassword(EMAIL, PASSWORD, { token: await stranger.token("implicit") });
    expect(outcome(answer)).toEqual([400, "credentials_wrong"]);
  });

  test.each([[""], [null], ["null"], ["undefined"], [PASSWORD], [0], [false], [[]], [{}]])(
    "400 for a customer without a password, with %j as for an unknown customer (T22, A11)",
    async (password) => {
      await f.redeem(await f.signOn());
      const known = await withPassword(EMAIL, password);
      const unknown = await withPassword("unknown@shop.example", password);
      expect(known.status).toBe(400);
      expect(withoutId(known)).toEqual(withoutId(unknown));
    },
  );

  test("200 once the back office sets a password; sign-on and password give the same customer (A11)", async () => {
    const { body } = await f.redeem(await f.signOn());
    const id = body.data.customer_id;
    const json = { data: { type: "customer", password: PASSWORD } };
    await f.store.call(updateCustomer, { ids: { id }, json });
    expect((await withPassword()).body.data.customer_id).toBe(id);
    expect((await f.redeem(await f.signOn())).body.data.customer_id).toBe(id);
    expect((await f.store.call(listCustomers)).body.meta.results.total).toBe(1);
  });

  test("429 with Retry-After after five failures, for the right password, too; it works after the wait (R36)", async () => {
    await newCustomer();
    for (let i = 0; i < 5; i++) expect((await withPassword(EMAIL, "wrong horse")).status).toBe(400);
    const refused = await withPassword();
    expect(outcome(refused)).toEqual([429, "sign_in_attempts_exceeded"]);
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect((await withPassword(EMAIL, PASSWORD, { peer: "192.0.2.7" })).status).toBe(200);
    f.latchkey.clock.advance(wait * 1000);
    expect((await withPassword()).status).toBe(200);
  });

  test("200 after four failures, again and again: a success resets the count", async () => {
    await newCustomer();
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 4; i++) expect((await withPassword(EMAIL, "wrong horse")).status).toBe(400);
      expect((await withPassword()).status).toBe(200);
    }
  });

  test("429 counts all spellings of one e-mail together (R36)", async () => {
    await newCustomer();
    for (const email of [
      EMAIL,
      "ADA@shop.example",
      "ada@SHOP.example",
      "Ada@Shop.Example",
      "aDa@shop.example",
    ])
      expect((await withPassword(email, "wrong horse")).status).toBe(400);
    expect((await withPassword("adA@shop.example")).status).toBe(429);
  });

  test("400 and no 429 for the store's own server, which signs in all shoppers from one address", async () => {
    await newCustomer();
    const token = await f.store.token();
    for (let i = 0; i < 20; i++)
      expect((await withPassword(EMAIL, "wrong horse", { token })).status).toBe(400);
    expect((await withPassword(EMAIL, PASSWORD, { token })).status).toBe(200);
  });

  test("failed passwords do not slow down sign-on through the provider", async () => {
    await newCustomer();
    for (let i = 0; i < 10; i++) await withPassword(EMAIL, "wrong horse");
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("503 with Retry-After when the queue of password checks is full; codes are redeemed meanwhile", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const library = { ...argon2, verify: () => promise };
    // So slow that the limit of the queue refuses the second check.
    const passwords = createPasswords({ clock: f.latchkey.clock, atOnce: 1, eachMs: 3000, library });
    await withOptions({ passwords });
    const checks = [withPassword("one@shop.example"), withPassword("other@shop.example")];
    const refused = await Promise.race(checks);
    expect(outcome(refused)).toEqual([503, "password_queue_full"]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await f.redeem(await f.signOn())).status).toBe(200);
    resolve(false);
    expect((await Promise.all(checks)).map(({ status }) => status).toSorted()).toEqual([400, 503]);
  });

  test("a password is not checked if its connection closes in the queue", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const verify = vi.fn(() => promise);
    const passwords = createPasswords({ clock: f.latchkey.clock, atOnce: 1, library: { ...argon2, verify } });
    await withOptions({ passwords });
    const first = withPassword("one@shop.example");
    await until(() => verify.mock.calls.length === 1);
    const data = { type: "token", email: EMAIL, password: PASSWORD };
    const socket = { remoteAddress: "127.0.0.1", writable: true };
    const request = toRequest(issueCustomerToken, { token: f.implicit, json: { data } });
    const left = f.latchkey.app.fetch(request, { incoming: { socket } });
    await until(() => passwords.waiting() === 1);
    socket.writable = false;
    resolve(false);
    expect((await left).status).toBe(503);
    expect((await first).status).toBe(400);
    expect(verify).toHaveBeenCalledOnce();
  });

  test("503 when the database is down; the attempt is not counted", async () => {
    await newCustomer();
    // The first request caches the access token, so that the sign-in itself meets the outage.
    expect((await withPassword()).status).toBe(200);
    const { storage } = f.latchkey;
    const { db: whole } = storage;
    for (let i = 0; i < 20; i++) {
      storage.db = awayAt(whole, 0, { forGood: true });
      const answer = await withPassword(EMAIL, "wrong horse");
      storage.db = whole;
      expect(outcome(answer)).toEqual([503, "storage_unavailable"]);
    }
    expect((await withPassword()).status).toBe(200);
  });

  test("200 for the customer with a password when another without one has the same e-mail (wire 15)", async () => {
    f.idp.person = { ...ADA, email: EMAIL };
    const older = (await f.redeem(await f.signOn())).body.data.customer_id;
    const id = await newCustomer();
    expect(id).not.toBe(older);
    expect((await withPassword()).body.data.customer_id).toBe(id);
  });

  test("400 when the password is replaced between its check and the token", async () => {
    const id = await newCustomer();
    const { storage } = f.latchkey;
    const { db: whole } = storage;
    const replace = () => {
      storage.db = whole;
      const data = { type: "customer", password: "another horse" };
      return f.store.call(updateCustomer, { ids: { id }, json: { data } });
    };
    // The first transaction of a sign-in makes the token.
    const transaction = () => ({
      execute: async (work: Parameters<ReturnType<typeof whole.transaction>["execute"]>[0]) => {
        expect((await replace()).status).toBe(200);
        return whole.transaction().execute(work);
      },
    });
    storage.db = new Proxy(whole, {
      get: (target, name) =>
        name === "transaction" ? transaction : Reflect.get(target, name, target).bind?.(target),
    });
    const answer = await withPassword();
    storage.db = whole;
    expect(outcome(answer)).toEqual([400, "credentials_wrong"]);
    expect((await f.store.call(listCustomerTokens, { ids: { customer: id } })).body.data).toEqual([]);
    expect((await withPassword(EMAIL, "another horse")).status).toBe(200);
  });

  test("the password is in no log line and no answer", async () => {
    await newCustomer();
    const answered = [await withPassword(), await withPassword(EMAIL, "wrong horse")];
    const text = JSON.stringify([answered.map(({ body }) => body), f.latchkey.logLines]);
    for (const secret of [PASSWORD, "wrong horse", EMAIL]) expect(text).not.toContain(secret);
  });
});
