import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createCustomer,
  eraseCustomer,
  listCustomers,
  updateCustomer,
} from "../../src/contract/customers.ts";
import { listEvents } from "../../src/contract/events.ts";
import { listSignOns } from "../../src/contract/sign-ons.ts";
import { verifyLog } from "../../src/events/verify.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation, type SignedOn } from "../support/federation.ts";
import { storedText } from "../support/stored-text.ts";

const ADA = {
  sub: "subject-of-the-erased-0815",
  email: "ada.lovelace@analytical.example",
  email_verified: true,
  name: "Augusta Ada Lovelace",
};
const EARLIER = "ada.byron@ockham.example";
const EARLIEST = "augusta@piccadilly.example";
const TRACES = [ADA.sub, "analytical", "lovelace", "byron", "piccadilly", "augusta"];

describe.each(engines)("an erased customer, on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
    f.idp.person = { ...f.idp.person, ...ADA };
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  const signIn = async (): Promise<string> => {
    const { body } = await f.redeem(await f.signOn());
    return body.data.customer_id;
  };
  const erase = (id: string) => f.store.call(eraseCustomer, { ids: { id } });
  const change = (id: string, data: object) =>
    f.store.call(updateCustomer, { ids: { id }, json: { data: { type: "customer", ...data } } });
  const customers = async () => (await f.store.call(listCustomers)).body.data;
  const expectNothingLeft = async () => {
    const text = (await storedText(database.url, f.latchkey.storage)).toLowerCase();
    for (const trace of TRACES) expect(text.includes(trace), trace).toBe(false);
  };

  test("leaves no name, e-mail, earlier e-mail or subject in the database", async () => {
    const password = "correct horse battery";
    const id = await signIn();
    await change(id, { email: EARLIER });
    await change(id, { email: EARLIEST, name: "Ada Byron" });
    await change(id, { email: ADA.email, name: ADA.name, password });
    await signIn();
    await f.signOn();
    // Rows of changing length make SQLite move rows and use overflow pages.
    for (let at = 0; at < 40; at++)
      await change(id, { name: `${ADA.name} ${"of Lovelace ".repeat(at % 17)}`.trim() });
    await f.latchkey.app.tidy();
    expect((await storedText(database.url, f.latchkey.storage)).toLowerCase()).toContain("lovelace");
    const { body } = await erase(id);
    expect(body.data).toMatchObject({ complete: true });
    await expectNothingLeft();
    await f.latchkey.app.tidy();
    await expectNothingLeft();
  });

  test("leaves no record of a failed sign-on under an earlier e-mail", async () => {
    const id = await signIn();
    await change(id, { email: EARLIER });
    await change(id, { email: EARLIEST });
    // A failed sign-on under each e-mail, with another subject: only the e-mail ties the record to the customer.
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    for (const email of [ADA.email, EARLIER, EARLIEST]) {
      await f.store.call(createCustomer, {
        json: { data: { type: "customer", name: "x", email, email_verified: true } },
      });
      f.idp.person = { ...f.idp.person, sub: `another ${email}`, email };
      const { error } = await f.signOn();
      expect(error, email).toBe("access_denied");
    }
    await f.latchkey.app.tidy();
    const under = async (email: string) =>
      (await f.store.call(listSignOns, { query: `filter=eq(email,${email})` })).body.data;
    for (const email of [ADA.email, EARLIER, EARLIEST])
      expect((await under(email)).length, email).toBeGreaterThan(0);
    await erase(id);
    for (const email of [ADA.email, EARLIER, EARLIEST]) expect(await under(email), email).toEqual([]);
  });

  test("is not made again by a code that was open at the erasure", async () => {
    const id = await signIn();
    const open = await f.signOn();
    await erase(id);
    const { status, body } = await f.redeem(open);
    expect([status, body.errors?.[0]?.code]).toEqual([400, "code_invalid"]);
    expect(await customers()).toEqual([]);
    await f.latchkey.app.tidy();
    await expectNothingLeft();
  });

  test("is not made again by a code whose token request was running at the erasure", async () => {
    const id = await signIn();
    let erasing: ReturnType<typeof erase> | undefined;
    f.idp.hooks.token = (answer) => {
      erasing = erase(id);
      return answer;
    };
    const open = await f.signOn();
    expect((await erasing)?.status).toBe(200);
    expect((await f.redeem(open)).status).toBe(400);
    expect(await customers()).toEqual([]);
  });

  test("is not made again by a code with the same e-mail", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const json = { data: { type: "customer", ...ADA, password: "correct horse battery" } };
    const { body: made } = await f.store.call(createCustomer, { json });
    const open = await f.signOn();
    expect(open.code).not.toBe("");
    await erase(made.data.id);
    const { status, body } = await f.redeem(open);
    expect([status, body.errors?.[0]?.meta?.reason]).toEqual([400, "person_erased"]);
    expect(await customers()).toEqual([]);
  });

  test("may sign in again as a new customer", async () => {
    const id = await signIn();
    await erase(id);
    f.latchkey.clock.advance(1);
    expect(await signIn()).not.toBe(id);
  });

  test("stays erased in every race with a redeem", async () => {
    for (let round = 0; round < 12; round++) {
      const id = await signIn();
      const open: SignedOn[] = [];
      for (let at = 0; at < 3; at++) open.push(await f.signOn());
      const redeems = open.map((one) => f.redeem(one));
      const [erased, ...redeemed] = await Promise.all([erase(id), ...redeems]);
      expect(erased.status).toBe(200);
      for (const { status } of redeemed) expect([200, 400]).toContain(status);
      expect(await customers(), `round ${round}`).toEqual([]);
      f.latchkey.clock.advance(1);
    }
    await f.latchkey.app.tidy();
    await f.latchkey.app.tidy();
    await expectNothingLeft();
    expect(await verifyLog({ ...f.latchkey, eventDays: 90 }, f.store.store.id)).toMatchObject({
      isWhole: true,
    });
  });

  test("has only own events erased, before the erasure's own event", async () => {
    const id = await signIn();
    await change(id, { email: EARLIER });
    await erase(id);
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "page[limit]=100" });
    const blank = body.data.filter(({ data }: { data: unknown }) => data === "(erased)");
    expect(blank.map(({ type }: { type: string }) => type)).toEqual([
      "customer.created",
      "customer.identity_linked",
      "customer_token.created",
      "customer.updated",
    ]);
    expect(body.data.at(-1)).toMatchObject({ type: "customer.erased", subject: id });
  });
});
