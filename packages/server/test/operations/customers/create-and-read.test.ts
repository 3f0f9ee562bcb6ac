import { describe, expect, test } from "vitest";
import {
  createCustomer,
  deleteCustomer,
  getCustomer,
  listCustomers,
  updateCustomer,
} from "../../../src/contract/customers.ts";
import * as customers from "../../../src/customers/administer.ts";
import { getCustomer as readCustomer } from "../../../src/customers/customer.ts";
import { createPublicWrites } from "../../../src/customers/public-write-limits.ts";
import { createPasswords } from "../../../src/passwords/password.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import {
  callerOf,
  create,
  createPublicly,
  implicit,
  insertToken,
  latchkey,
  newEmail,
  other,
  PASSWORD,
  read,
  shops,
  signIn,
  signUpLimitsOf,
  store,
  tokensOf,
  UNKNOWN,
  update,
} from "./shop.ts";

/** Customers are created, read and deleted. */

shops();

describe("the creation of a customer", () => {
  test("201 with the given members and defaults, never with the password", async () => {
    const { status, body } = await create({ email: "Ada.Lovelace@Shop.Example" });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      type: "customer",
      name: "Ada",
      password: false,
      external_ref: null,
      authentication_mechanism: "password",
      email_verified: false,
      meta: {
        timestamps: { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" },
      },
    });
    expect(body.data.email.toLowerCase()).toBe("ada.lovelace@shop.example");
    expect(body.links.self).toBe(`${PUBLIC_URL}/v2/customers/${body.data.id}`);
    expect(await read(body.data.id)).toEqual(body.data);

    const second = await create({ password: PASSWORD, external_ref: "crm-7", email_verified: true });
    expect(second.body.data).toMatchObject({ password: true, external_ref: "crm-7", email_verified: true });
    expect(JSON.stringify(second.body)).not.toContain(PASSWORD);
    expect(JSON.stringify(latchkey.logLines)).not.toContain(PASSWORD);
  });

  test("201 for an implicit token, whose `email_verified` is ignored", async () => {
    const { status, body } = await createPublicly({ email: newEmail(), email_verified: true });
    expect([status, body.data.email_verified]).toEqual([201, false]);
  });

  test("409 for an e-mail that another customer of the store signs in with, in any case", async () => {
    const email = newEmail();
    expect((await create({ email, password: PASSWORD })).status).toBe(201);
    const answer = await createPublicly({ email: email.toUpperCase(), password: "another one" });
    expect([answer.status, answer.code]).toEqual([409, "email_taken"]);
    expect(answer.body.errors[0].source).toEqual({ pointer: "/data/email" });
    expect((await create({ email, password: PASSWORD }, other)).status).toBe(201);
  });

  test("customers without a password may share an e-mail, also with one who has a password", async () => {
    const email = newEmail();
    for (const password of [undefined, undefined, PASSWORD, undefined])
      expect((await create({ email, password })).status).toBe(201);
  });

  test("400 with one error for each faulty member", async () => {
    const { status, body } = await create({
      type: "token",
      name: " ",
      email: "two@shop.example, addresses@shop.example",
      password: "short",
      external_ref: "",
      email_verified: "yes",
    });
    expect(status).toBe(400);
    const pointers = body.errors.map((error: { source: { pointer: string } }) => error.source.pointer);
    expect(pointers.sort()).toEqual(
      ["email", "email_verified", "external_ref", "name", "password", "type"].map(
        (member) => `/data/${member}`,
      ),
    );
    const missing = await store.call(createCustomer, { json: { data: { type: "customer" } } });
    expect(missing.codes).toEqual(["member_missing", "member_missing"]);
  });

  test.each([
    ["a password of 7 characters", { password: "x".repeat(7) }, 400],
    ["a password of 8 characters", { password: "x".repeat(8) }, 201],
    ["a password of 128 characters", { password: "x".repeat(128) }, 201],
    ["a password of 129 characters", { password: "x".repeat(129) }, 400],
    ["a reference of 2048 characters", { external_ref: "x".repeat(2048) }, 201],
    ["a reference of 2049 characters", { external_ref: "x".repeat(2049) }, 400],
    ["a password that is null", { password: null }, 400],
    ["an e-mail without a host", { email: "ada@" }, 400],
  ])("%s", async (_, data, status) => {
    expect((await create(data)).status).toBe(status);
  });
});

describe("access to a customer", () => {
  test("403 for an implicit token alone: it is public", async () => {
    const { id } = (await create()).body.data;
    const ids = { id };
    const json = { data: { type: "customer" } };
    expect((await call(latchkey.app, getCustomer, { token: implicit, ids })).status).toBe(403);
    expect((await call(latchkey.app, updateCustomer, { token: implicit, ids, json })).status).toBe(403);
    expect((await call(latchkey.app, deleteCustomer, { token: implicit, ids })).status).toBe(403);
    expect((await call(latchkey.app, listCustomers, { token: implicit })).status).toBe(403);
  });

  test("200 with the own customer token; 404 for another customer, as for an unknown one", async () => {
    const email = newEmail();
    const { id } = (await create({ email, password: PASSWORD })).body.data;
    const another = (await create()).body.data.id;
    const asAda = await signIn(email);
    expect((await asAda(getCustomer, id)).body.data.email).toBe(email);
    expect((await asAda(updateCustomer, id, { name: "Countess" })).body.data.name).toBe("Countess");
    for (const stranger of [another, UNKNOWN]) {
      expect((await asAda(getCustomer, stranger)).code).toBe("customer_not_found");
      expect((await asAda(updateCustomer, stranger, { name: "Mine" })).code).toBe("customer_not_found");
      expect((await asAda(deleteCustomer, stranger)).code).toBe("customer_not_found");
    }
    expect((await asAda(listCustomers, id)).status).toBe(403);
    expect((await read(another)).name).toBe("Ada");
    expect((await asAda(deleteCustomer, id)).status).toBe(204);
  });

  test("404 for another store's customer, as for an unknown one; nothing changes (T30)", async () => {
    const foreign = (await create({}, other)).body.data;
    for (const operation of [getCustomer, updateCustomer, deleteCustomer]) {
      const json = operation === updateCustomer ? { json: { data: { type: "customer", name: "Mine" } } } : {};
      const answers = await Promise.all(
        [foreign.id, UNKNOWN].map((id) => store.call(operation, { ids: { id }, ...json })),
      );
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      const [first, second] = answers.map(({ body }) => ({ ...body.errors[0], id: "" }));
      expect(first).toEqual(second);
    }
    expect((await other.call(getCustomer, { ids: { id: foreign.id } })).body.data).toEqual(foreign);
  });

  test("the functions themselves refuse other customers, whatever the route does", async () => {
    const { id } = (await create()).body.data;
    const stranger = callerOf({ customerId: UNKNOWN, tokenId: UNKNOWN });
    const { storage, clock } = latchkey;
    const publicWrites = createPublicWrites({ clock, signUpLimitsOf });
    const deps = { storage, clock, publicUrl: "", publicWrites, passwords: createPasswords(latchkey) };
    for (const work of [
      () => readCustomer(deps, stranger, id),
      () => customers.updateCustomer(deps, stranger, id, { name: "Mine" }),
      () => customers.deleteCustomer(deps, stranger, id),
    ]) {
      await expect(work()).rejects.toMatchObject({ code: "customer_not_found" });
    }
    expect((await readCustomer(deps, callerOf({ customerId: id, tokenId: UNKNOWN }), id)).id).toBe(id);
  });
});

test("204 deletes a customer with tokens and identities; then 404", async () => {
  const { id } = (await create({ password: PASSWORD })).body.data;
  await insertToken(id);
  expect((await store.call(deleteCustomer, { ids: { id } })).status).toBe(204);
  expect(await tokensOf(id)).toEqual([]);
  for (const operation of [getCustomer, deleteCustomer])
    expect((await store.call(operation, { ids: { id } })).code).toBe("customer_not_found");
  expect((await update(id, { name: "Ghost" })).code).toBe("customer_not_found");
});
