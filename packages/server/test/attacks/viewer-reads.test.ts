import { hash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApplicationKey, updateApplicationKey } from "../../src/contract/application-keys.ts";
import { listDeliveries, redeliver, testIntegration } from "../../src/contract/deliveries.ts";
import { listEvents, streamEvents } from "../../src/contract/events.ts";
import {
  createIntegration,
  getIntegration,
  listIntegrations,
  updateIntegration,
} from "../../src/contract/integrations.ts";
import { updateMember } from "../../src/contract/members.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { updateRealm } from "../../src/contract/realms.ts";
import { ROLES, type Role } from "../../src/contract/roles.ts";
import { listSignOns } from "../../src/contract/sign-ons.ts";
import { digestOf } from "../../src/events/chain.ts";
import { byService } from "../../src/events/event.ts";
import { noteEvents } from "../../src/events/note.ts";
import { canonicalJson } from "../../src/lib/canonical-json.ts";
import { getToken } from "../support/app.ts";
import { type Call, call, toRequest } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { startHostileIdp } from "../support/hostile-idp.ts";
import { createMembersSide, type MembersSide } from "../support/members.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** The attack: a viewer reads members' e-mails and webhook secrets in log and receivers' answers (wire 21, 25). */

type Event = {
  id: string;
  type: string;
  sequence: string;
  salt?: string;
  digest: string;
  hash: string;
  previoushash: string;
  data: {
    resource: Record<string, unknown>;
    changes?: Record<string, unknown>;
    actor: { type: string; id: string; name: string | null };
    withheld?: true;
  };
};

const SECRET_KEY = 'pass "word" <of> theirs/+&';
const PATH = "/services/T0001/B0002/key-in-the-path?token=key-in-the-query";
/** Forms in which a receiver may send the secret key back. */
const SPELLINGS: Record<string, (secret: string) => string> = {
  "as it is": (secret) => secret,
  "in JSON": (secret) => JSON.stringify({ headers: { key: secret } }),
  "percent-encoded": encodeURIComponent,
  "as form data": (secret) => `${new URLSearchParams({ secret })}`,
  "in HTML": (secret) => secret.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;"),
  "in base64": (secret) => Buffer.from(secret).toString("base64"),
  "in hexadecimal": (secret) => Buffer.from(secret).toString("hex"),
  "in capitals": (secret) => secret.toUpperCase(),
  backwards: (secret) => [...secret].reverse().join(""),
  "cut at the first kilobyte": (secret) => "x".repeat(1024 - secret.length + 1) + secret,
};

describe.each(engines)("a viewer, on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let side: MembersSide;
  let receiver: Receiver;
  const tokens = {} as Record<Role, string>;
  const keys = {} as Record<Role, string>;

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    receiver = await startReceiver();
    const idp = await startHostileIdp();
    const allowedOrigins = [receiver.origin, idp.origin];
    f = await createFederation({ databaseUrl: database.url, idp, allowedOrigins });
    side = await createMembersSide(f);
    for (const role of ROLES) {
      const json = { data: { type: "application_key", name: role, role } };
      const made = (await f.store.call(createApplicationKey, { json })).body.data;
      const key = { ...f.store.key, clientId: made.client_id, clientSecret: made.client_secret };
      keys[role] = made.id;
      tokens[role] = await getToken(f.latchkey.app, { ...f.store, key }, "client_credentials");
    }
  });
  beforeEach(({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    f.latchkey.clock.advance(2000);
    receiver.answer(200);
  });
  afterAll(async () => {
    await f?.close();
    await f?.idp.close();
    await receiver?.close();
    await database?.drop();
  });

  const as = (role: Role, operation: Operation, request: Call = {}) =>
    call(f.latchkey.app, operation, { token: tokens[role], ...request });

  async function eventsFor(role: Role, query = ""): Promise<Event[]> {
    await f.latchkey.app.tidy();
    return (await as(role, listEvents, { query: `page[limit]=100&${query}` })).body.data;
  }

  async function integrate(data: object = {}): Promise<{ id: string }> {
    const configuration = { url: receiver.url, secret_key: SECRET_KEY };
    const integration = { type: "integration", name: "Chat", integration_type: "webhook" };
    const json = { data: { ...integration, observes: ["authentication_realm.*"], configuration, ...data } };
    return (await f.store.call(createIntegration, { json })).body.data;
  }

  /** Checks the hashes of the chain, which every reader can check even when data are withheld. */
  function expectChained(events: readonly Event[]): void {
    for (const [at, { hash: shown, data: _, salt: __, ...others }] of events.entries()) {
      expect(hash("sha256", canonicalJson(others), "base64url")).toBe(shown);
      if (at > 0) expect(others.previoushash).toBe(events[at - 1]?.hash);
    }
  }

  test.each(Object.entries(SPELLINGS))(
    "cannot read the answer of a receiver that sends the secret key back %s; an administrator can",
    async (_, spell) => {
      receiver.answer((response, { headers }) => response.end(spell(String(headers["x-moltin-secret-key"]))));
      const { id } = await integrate();
      const json = { data: { type: "authentication-realm", name: `Shop ${_}` } };
      await f.store.call(updateRealm, { ids: { id: f.realmId }, json });
      await f.latchkey.app.tidy();
      await f.latchkey.app.delivered();
      for (const role of ROLES) {
        const { body } = await as(role, listDeliveries, { ids: { id } });
        const [delivery] = body.data;
        const answers = delivery.attempts.map(({ answer }: { answer: string | null }) => answer);
        expect(delivery.attempts[0]).toMatchObject({ status: 200, reason: null });
        if (role !== "viewer") {
          const again = await as(role, redeliver, { ids: { id, delivery: delivery.id } });
          const tested = await as(role, testIntegration, { ids: { id } });
          answers.push(again.body.data.attempts[0].answer, tested.body.data.attempt.answer);
        }
        for (const answer of answers) expect(typeof answer === "string").toBe(role === "administrator");
        if (role !== "administrator") expect(answers.join("")).toBe("");
      }
      await f.store.call(updateIntegration, {
        ids: { id },
        json: { data: { type: "integration", enabled: false } },
      });
    },
  );

  test("cannot read members' names, e-mails and roles in events: in the list, by filter, in the stream", async () => {
    const stream = await follow("viewer");
    const id = await side.invite("first-address@shop.example", "support");
    const json = { data: { type: "member", email: "second-address@shop.example" } };
    await f.store.call(updateMember, { ids: { id }, json });
    const all = await eventsFor("administrator", `filter=eq(subject,${id})`);
    expect(JSON.stringify(all)).toContain("first-address");
    expect(all.every(({ data, salt }) => salt !== undefined && data.withheld === undefined)).toBe(true);
    for (const role of ["viewer", "support"] as const)
      for (const query of [
        "",
        "types=member.*",
        "filter=eq(type,member.updated)",
        `filter=eq(subject,${id})`,
      ]) {
        const events = await eventsFor(role, query);
        expect(JSON.stringify(events)).not.toContain("-address");
        const updated = events.find(({ type }) => type === "member.updated");
        expect(updated?.data).toEqual({
          resource: { type: "member", id },
          actor: expect.objectContaining({ type: "application_key" }),
          request_id: expect.any(String),
          withheld: true,
        });
        expect(updated).not.toHaveProperty("salt");
      }
    await until(() => stream.text().includes("member.updated"));
    expect(stream.text()).not.toContain("-address");
    await stream.leave();
  });

  test("can check numbers and hashes of the log, and digests where nothing is withheld", async () => {
    await side.invite("someone@shop.example", "viewer");
    const [viewers, administrators] = [await eventsFor("viewer"), await eventsFor("administrator")];
    expect(viewers.map(({ hash, sequence }) => [sequence, hash])).toEqual(
      administrators.map(({ hash, sequence }) => [sequence, hash]),
    );
    expectChained(viewers);
    for (const { salt, digest, data } of viewers) {
      expect(salt === undefined).toBe(data.withheld === true);
      if (salt) expect(digestOf(Buffer.from(salt, "base64url"), canonicalJson(data))).toBe(digest);
    }
  });

  test("cannot read a member's name as an actor, also in events of an earlier release", async () => {
    const id = await side.invite("nameless@shop.example", "administrator");
    const person = { sub: "nameless", email: "nameless@shop.example", email_verified: true };
    const token = (await side.redeem(await side.signOn(person))).body.access_token;
    await side.call(token, updateRealm, {
      ids: { id: f.realmId },
      json: { data: { type: "authentication-realm", name: "Renamed" } },
    });
    const query = `filter=eq(actor,${id}):eq(type,authentication_realm.updated)`;
    for (const role of ["viewer", "administrator"] as const)
      expect((await eventsFor(role, query))[0]?.data.actor).toEqual({ type: "member", id, name: null });
    const { db } = f.latchkey.storage;
    const [named] = await eventsFor("administrator", query);
    const ofEvent = db
      .selectFrom("events")
      .selectAll()
      .where("id", "=", named?.id as string);
    const row = await ofEvent.executeTakeFirstOrThrow();
    const data = JSON.parse(row.data as string);
    data.actor.name = "nameless@shop.example";
    await db
      .updateTable("events")
      .set({ data: JSON.stringify(data) })
      .where("id", "=", row.id)
      .execute();
    const [seen] = await eventsFor("viewer", query);
    expect(seen?.data).toMatchObject({ actor: { type: "member", id, name: null }, withheld: true });
    expect(seen?.data.changes).toMatchObject({ name: { after: "Renamed" } });
    expect((await eventsFor("administrator", query))[0]?.data.actor.name).toBe("nameless@shop.example");
  });

  test("cannot find a member's sign-on by e-mail; a customer's can be found", async () => {
    await side.token("looked-for@shop.example", "viewer");
    await f.latchkey.app.tidy();
    const found = async (role: Role, email: string) =>
      (await as(role, listSignOns, { query: `filter=eq(email,${email})` })).body.meta.results.total;
    expect(await found("administrator", "looked-for@shop.example")).toBe(1);
    expect(await found("viewer", "looked-for@shop.example")).toBe(0);
    Object.assign(f.idp.person, { sub: "a shopper", email: "shopper@shop.example" });
    await f.signOn();
    await f.latchkey.app.tidy();
    expect(await found("viewer", "shopper@shop.example")).toBe(1);
  });

  test("reads the origin of a webhook's URL only; the log has no more for any role", async () => {
    const configuration = { url: receiver.origin + PATH };
    const { id } = await integrate({ configuration, observes: ["store.*"] });
    const moved = { data: { type: "integration", configuration: { url: `${receiver.origin}/other-key` } } };
    await f.store.call(updateIntegration, { ids: { id }, json: moved });
    for (const role of ROLES) {
      const one = (await as(role, getIntegration, { ids: { id } })).body.data;
      const list = (await as(role, listIntegrations)).body.data;
      const isAdministrator = role === "administrator";
      expect(one.configuration.url).toBe(receiver.origin + (isAdministrator ? "/other-key" : "/(hidden)"));
      expect(JSON.stringify(list).includes("other-key")).toBe(isAdministrator);
      const events = await eventsFor(role, `filter=eq(subject,${id})`);
      expect(events).toHaveLength(2);
      expect(JSON.stringify(events)).not.toMatch(/-key|services/);
      expect(events[1]?.data.changes).toEqual({ "configuration.url": "(changed)" });
    }
  });

  test("cannot read URLs that an earlier release has written into the log", async () => {
    const { storage, clock } = f.latchkey;
    const [before, after] = ["/old-key", "/new-key"].map((path) => ({ url: `https://hooks.example${path}` }));
    const resource = { type: "integration", id: keys.viewer, name: "Chat", configuration: after };
    const changes = { configuration: { before, after } };
    const type = "integration.updated" as const;
    await storage.transact((trx) =>
      noteEvents(trx, { clock }, byService(f.store.store.id), [
        { type, subject: keys.viewer, resource, changes },
      ]),
    );
    const query = `filter=eq(subject,${keys.viewer}):eq(type,${type})`;
    const [event] = await eventsFor("viewer", query);
    expect(JSON.stringify(event)).not.toContain("-key");
    expect(event?.data.resource.configuration).toEqual({ url: "https://hooks.example/(hidden)" });
    expect(event?.data.withheld).toBe(true);
    expect(JSON.stringify(await eventsFor("administrator", query))).toContain("new-key");
  });

  test("reads by the current role in a stream that was opened with a higher one", async () => {
    const stream = await follow("support", tokens.administrator);
    await side.invite("while-administrator@shop.example", "viewer");
    await f.latchkey.app.tidy();
    await until(() => stream.text().includes("while-administrator"));
    const json = { data: { type: "application_key", name: "Demoted", role: "support" } };
    await f.store.call(updateApplicationKey, { ids: { id: keys.administrator }, json });
    const id = await side.invite("after-that@shop.example", "viewer");
    await f.latchkey.app.tidy();
    await until(() => stream.text().includes(id));
    expect(stream.text()).not.toContain("after-that");
    await stream.leave();
  });

  async function follow(role: Role, token = tokens[role]) {
    const response = await f.latchkey.app.fetch(toRequest(streamEvents, { token }));
    const reader = response.body?.getReader();
    let text = "";
    void (async () => {
      for (;;) {
        const piece = await reader?.read();
        if (!piece || piece.done) return;
        text += Buffer.from(piece.value).toString();
      }
    })();
    return { text: () => text, leave: async () => void (await reader?.cancel()) };
  }
});
