import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listDeliveries, replayEvents } from "../../src/contract/deliveries.ts";
import { listEvents } from "../../src/contract/events.ts";
import {
  createIntegration,
  deleteIntegration,
  getIntegration,
  listIntegrations,
  rotateIntegrationSecret,
  updateIntegration,
} from "../../src/contract/integrations.ts";
import { limits } from "../../src/contract/limits.ts";
import { PUBLIC_URL } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type Hooks, openHooks } from "../support/hooks.ts";

let hooks: Hooks;
beforeAll(async () => {
  hooks = await openHooks();
});
afterAll(() => hooks.close());

const change = (id: string, data: object) =>
  hooks.store.call(updateIntegration, { ids: { id }, json: { data: { type: "integration", ...data } } });

async function eventsOf(id: string) {
  await hooks.latchkey.app.tidy();
  const { body } = await hooks.store.call(listEvents, { query: `filter=eq(subject,${id})` });
  return body.data;
}

describe("an integration", () => {
  test("201 shows the signing secret; no other answer has it (wire 17)", async () => {
    const made = await hooks.integrate({ description: "Tells them" });
    expect(made.signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { body } = await hooks.store.call(getIntegration, { ids: { id: made.id } });
    const { signing_secret: _, ...shown } = made;
    expect(body).toEqual({ data: shown, links: { self: `${PUBLIC_URL}/v2/integrations/${made.id}` } });
    expect(shown).toMatchObject({
      type: "integration",
      name: "Newsletter",
      description: "Tells them",
      enabled: true,
      integration_type: "webhook",
      observes: ["customer.*"],
      configuration: { url: hooks.receiver.url, secret_key: null, format: "cloudevents" },
      meta: { status: "healthy", failing_since: null, last_delivery: null, replay: null },
    });
    const list = await hooks.store.call(listIntegrations);
    expect(list.body.data.at(-1)).toEqual({ ...shown, links: body.links });
  });

  test("a PUT changes the members that it has; `null` removes description and secret key", async () => {
    const configuration = { url: hooks.receiver.url, secret_key: "a secret of theirs" };
    const { id } = await hooks.integrate({ description: "Tells them", configuration });
    const renamed = await change(id, { name: "Mail", enabled: false });
    expect(renamed.body.data).toMatchObject({
      name: "Mail",
      description: "Tells them",
      enabled: false,
      configuration: { url: hooks.receiver.url, secret_key: "a secret of theirs" },
      meta: { status: "disabled", disabled_reason: null },
    });
    const cleared = await change(id, {
      description: null,
      configuration: { secret_key: null, format: "integration" },
    });
    expect(cleared.body.data).toMatchObject({
      description: "",
      configuration: { url: hooks.receiver.url, secret_key: null, format: "integration" },
    });
  });

  test("leaves events without secrets: created, changed, rotated, deleted (wire 16)", async () => {
    const configuration = { url: hooks.receiver.url, secret_key: "a secret of theirs" };
    const { id } = await hooks.integrate({ configuration });
    await change(id, { name: "Mail", configuration: { secret_key: "another secret" } });
    await change(id, { name: "Mail" });
    const rotated = await hooks.store.call(rotateIntegrationSecret, { ids: { id } });
    expect((await hooks.store.call(deleteIntegration, { ids: { id } })).status).toBe(204);
    expect((await hooks.store.call(getIntegration, { ids: { id } })).code).toBe("integration_not_found");
    const events = await eventsOf(id);
    expect(
      events.map(({ type, data }: { type: string; data: { changes?: object } }) => [type, data.changes]),
    ).toEqual([
      ["integration.created", undefined],
      [
        "integration.updated",
        { name: { before: "Newsletter", after: "Mail" }, "configuration.secret_key": "(changed)" },
      ],
      ["integration.updated", { signing_secret: "(changed)" }],
      ["integration.deleted", undefined],
    ]);
    const written = JSON.stringify(events);
    for (const secret of ["a secret of theirs", "another secret", "whsec_", rotated.body.data.signing_secret])
      expect(written).not.toContain(secret);
    expect(events.at(-1).data.resource).toEqual({ type: "integration", id });
  });

  test("leaves no event for an unchanged secret key", async () => {
    const configuration = { url: hooks.receiver.url, secret_key: "a secret of theirs" };
    const { id } = await hooks.integrate({ configuration });
    const { body } = await hooks.store.call(getIntegration, { ids: { id } });
    expect((await change(id, body.data)).status).toBe(200);
    await change(id, { configuration: { secret_key: null } });
    await change(id, { configuration: { secret_key: null } });
    const [, ...updates] = await eventsOf(id);
    expect(updates.map(({ data }: { data: { changes: object } }) => data.changes)).toEqual([
      { "configuration.secret_key": "(changed)" },
    ]);
  });

  test("has its secrets sealed in the database, each bound to its integration", async () => {
    const configuration = { url: hooks.receiver.url, secret_key: "a secret of theirs" };
    const made = await hooks.integrate({ configuration });
    await hooks.store.call(rotateIntegrationSecret, { ids: { id: made.id } });
    const row = await hooks.latchkey.storage.db
      .selectFrom("integrations")
      .selectAll()
      .where("id", "=", made.id)
      .executeTakeFirstOrThrow();
    for (const sealed of [row.sealed_secret, row.sealed_previous_secret, row.sealed_secret_key])
      expect(sealed).toMatch(/^[0-9a-f]{8}\.[\w-]+$/);
    expect(JSON.stringify(row)).not.toContain(made.signing_secret);
    expect(JSON.stringify(row)).not.toContain("a secret of theirs");
  });

  test("of another store is 404 for every operation (T30)", async () => {
    const { id } = await hooks.integrate();
    const token = await (await hooks.latchkey.createStore()).token();
    for (const operation of [getIntegration, deleteIntegration, rotateIntegrationSecret, listDeliveries])
      expect((await call(hooks.latchkey.app, operation, { ids: { id }, token })).code).toBe(
        "integration_not_found",
      );
  });

  test("is deleted with its deliveries, in the background", async () => {
    const { id } = await hooks.integrate();
    await hooks.customer();
    await hooks.deliver();
    expect(await hooks.deliveries(id)).toHaveLength(1);
    await hooks.store.call(deleteIntegration, { ids: { id } });
    hooks.latchkey.clock.advance(61_000);
    await hooks.deliver();
    const { db } = hooks.latchkey.storage;
    expect(
      await db.selectFrom("integration_deliveries").select("id").where("integration_id", "=", id).execute(),
    ).toEqual([]);
    expect(await db.selectFrom("deleted_integrations").selectAll().execute()).toEqual([]);
  });
});

describe("invalid input", () => {
  const create = (data: object) => hooks.integrate(data);
  const refused = async (data: object) => {
    const json = {
      data: {
        type: "integration",
        name: "n",
        integration_type: "webhook",
        observes: ["customer.*"],
        configuration: { url: hooks.receiver.url },
        ...data,
      },
    };
    return hooks.store.call(createIntegration, { json });
  };

  test("422 lists every fault at once: type, address, events", async () => {
    const { status, body } = await refused({
      integration_type: "aws_sqs",
      observes: ["customer.created", "order.created", "nothing.*", "*"],
      configuration: { url: "http://hooks.example" },
    });
    expect(status).toBe(422);
    expect(
      body.errors.map((error: { code: string; source: { pointer: string } }) => [
        error.code,
        error.source.pointer,
      ]),
    ).toEqual([
      ["integration_type_unsupported", "/data/integration_type"],
      ["webhook_url_not_allowed", "/data/configuration/url"],
      ["event_type_unknown", "/data/observes/1"],
      ["event_type_unknown", "/data/observes/2"],
      ["event_type_unknown", "/data/observes/3"],
    ]);
  });

  test("422 for another type without a url in its configuration; 400 for a webhook without one (wire 17)", async () => {
    type Fault = { status: string; code: string; source: { pointer: string } };
    const faultsOf = async (data: object) =>
      (await refused(data)).body.errors.map(({ status, code, source }: Fault) => [
        status,
        code,
        source.pointer,
      ]);
    const configuration = { queue_url: "https://queues.example/orders", region: "eu-west-1" };
    expect(await faultsOf({ integration_type: "aws_sqs", configuration })).toEqual([
      ["422", "integration_type_unsupported", "/data/integration_type"],
    ]);
    const noUrl = ["400", "member_missing", "/data/configuration/url"];
    expect(await faultsOf({ configuration: {} })).toEqual([noUrl]);
    expect(await faultsOf({ name: undefined, configuration: {} })).toEqual([
      ["400", "member_missing", "/data/name"],
      noUrl,
    ]);
    expect(await faultsOf({ configuration: [] })).toEqual([["400", "member_invalid", "/data/configuration"]]);
    expect(await faultsOf({ configuration: { url: 1 } })).toEqual([
      ["400", "member_invalid", "/data/configuration/url"],
    ]);
  });

  test("a PUT is validated like a POST, and points to its own members", async () => {
    const { id } = await hooks.integrate();
    expect((await change(id, { integration_type: "aws_sqs" })).code).toBe("integration_type_unsupported");
    expect((await change(id, { observes: ["order.created"] })).code).toBe("event_type_unknown");
    expect((await change(id, { id: "019a0000-0000-7000-8000-000000000000" })).code).toBe("id_mismatch");
    const json = { data: { id: "019a0000-0000-7000-8000-000000000000", after: "0" } };
    expect((await hooks.store.call(replayEvents, { ids: { id }, json })).code).toBe("id_mismatch");
  });

  test("422 for deliveries that no index can find, among 20,000 others", async () => {
    const { id } = await hooks.integrate();
    await sql`insert into integration_deliveries (id, store_id, integration_id, sequence, event_id, type, subject, status, tries, attempts, created_at, updated_at)
      with recursive many (n) as (select 1 union all select n + 1 from many where n < 20002)
      select ${id} || n, ${hooks.store.store.id}, ${id}, 1000000 + n, 'e', 'customer.created', 's', 'delivered', 0, '[]', 0, 0 from many`.execute(
      hooks.latchkey.storage.db,
    );
    const query = "filter=eq(status,delivered):eq(type,customer.updated)";
    const answer = await hooks.store.call(listDeliveries, { ids: { id }, query });
    expect([answer.status, answer.code]).toEqual([422, "filter_too_wide"]);
  });

  test.each([
    "http://hooks.example/x",
    "https://127.0.0.1/",
    "https://localhost/",
    "https://[::1]/",
    "https://169.254.169.254/latest",
    "https://hooks.example:8443/",
    "https://user:pass@hooks.example/",
    "https://hooks.example/#x",
    "ftp://hooks.example/",
    "hooks.example",
    "",
  ])("422 for the address %s, at creation and at a change (A52)", async (url) => {
    expect((await refused({ configuration: { url } })).code).toBe("webhook_url_not_allowed");
    const { id } = await create({});
    expect((await change(id, { configuration: { url } })).code).toBe("webhook_url_not_allowed");
    expect((await hooks.see(id)).configuration.url).toBe(hooks.receiver.url);
    await hooks.store.call(deleteIntegration, { ids: { id } });
  });

  test.each([
    [{ name: "" }],
    [{ name: undefined }],
    [{ observes: [] }],
    [{ observes: Array.from({ length: 51 }, () => "customer.*") }],
    [{ observes: "customer.*" }],
    [{ enabled: "yes" }],
    [{ configuration: {} }],
    [{ configuration: { url: hooks?.receiver.url ?? "https://x.example", format: "xml" } }],
    [{ configuration: { url: "https://x.example", secret_key: "line\r\nbreak" } }],
    [{ configuration: { url: "https://x.example", secret_key: "ümlaut" } }],
    [{ description: "x".repeat(2049) }],
  ])("400 for %j", async (data) => {
    expect((await refused(data)).status).toBe(400);
  });

  test("409 for one more than a hundred of a store, also for concurrent requests", async () => {
    const other = await openHooks();
    const { db } = other.latchkey.storage;
    for (let made = 0; made < limits.integrations - 1; made++) await other.integrate();
    const json = {
      data: {
        type: "integration",
        name: "n",
        integration_type: "webhook",
        observes: ["customer.*"],
        configuration: { url: other.receiver.url },
      },
    };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => other.store.call(createIntegration, { json })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.code).toBe("too_many_integrations");
    expect(await db.selectFrom("integrations").select("id").execute()).toHaveLength(limits.integrations);
    const neighbour = await other.latchkey.createStore();
    expect((await neighbour.call(createIntegration, { json })).status).toBe(201);
    await other.close();
  });
});
