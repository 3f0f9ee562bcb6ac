import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  getApplicationKey,
  listApplicationKeys,
  rotateApplicationKey,
} from "../../src/contract/application-keys.ts";
import { isWellFormed } from "../../src/lib/secrets.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
});
afterAll(() => latchkey.close());

const create = (data: object, by = store) =>
  by.call(createApplicationKey, { json: { data: { type: "application_key", ...data } } });

const tokenStatus = async (clientId: string, clientSecret: string) => {
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const { status, code } = await call(latchkey.app, issueAccessToken, { form });
  return code ?? status;
};

describe("the creation of an application key", () => {
  beforeAll(async () => {
    store = await latchkey.createStore(100);
  });

  test("201 with a client id and a secret that work", async () => {
    const { status, body } = await create({ name: "Warehouse", reserved_rate_limit: 5 });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ name: "Warehouse", reserved_rate_limit: 5 });
    expect(body.data.meta.timestamps.last_used_at).toBeNull();
    expect(body.links.self).toBe(`${PUBLIC_URL}/v2/application-keys/${body.data.id}`);
    expect(isWellFormed("lkid", body.data.client_id)).toBe(true);
    expect(isWellFormed("lksk", body.data.client_secret)).toBe(true);
    expect(await tokenStatus(body.data.client_id, body.data.client_secret)).toBe(200);
  });

  test("201 without a reservation by default", async () => {
    expect((await create({ name: "Quiet" })).body.data.reserved_rate_limit).toBe(0);
  });

  test("the secret is in no later answer", async () => {
    const { body } = await create({ name: "Once" });
    const got = await store.call(getApplicationKey, { ids: { id: body.data.id } });
    const listed = await store.call(listApplicationKeys);
    expect(JSON.stringify([got.body, listed.body])).not.toContain(body.data.client_secret);
  });

  test("the database has the secret's hash only", async () => {
    const { body } = await create({ name: "Hashed" });
    const rows = await latchkey.storage.db.selectFrom("application_key_secrets").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(body.data.client_secret);
  });

  test("409 when the reservation does not fit; no key is made", async () => {
    const before = (await store.call(listApplicationKeys)).body.meta.results.total;
    const answer = await create({ name: "Greedy", reserved_rate_limit: 101 });
    expect([answer.status, answer.code]).toEqual([409, "reservation_exceeds_store_limit"]);
    expect((await store.call(listApplicationKeys)).body.meta.results.total).toBe(before);
  });
});

describe("the list of application keys", () => {
  beforeAll(async () => {
    store = await latchkey.createStore(100);
    for (const name of ["b", "c", "d", "e"]) {
      latchkey.clock.advance(1);
      await create({ name, reserved_rate_limit: 10 });
    }
  });

  const names = (body: { data: { name: string }[] }) => body.data.map((key) => key.name);

  test("200 with the store's keys, oldest first, and the sum of their reservations", async () => {
    const { body } = await store.call(listApplicationKeys);
    expect(names(body)).toEqual(["First key", "b", "c", "d", "e"]);
    expect(body.meta).toEqual({
      page: { limit: 25, offset: 0, current: 1, total: 1 },
      results: { total: 5 },
      total_reserved_rate_limit: 40,
      rate_limit: 100,
    });
    expect(body.data[1].links.self).toBe(`${PUBLIC_URL}/v2/application-keys/${body.data[1].id}`);
    expect(body.links).toMatchObject({ next: null, prev: null });
  });

  test.each(["page[limit]=2&page[offset]=2", "page%5Blimit%5D=2&page%5Boffset%5D=2"])(
    "200 for pages, with brackets raw or encoded: %s",
    async (query) => {
      const { body } = await store.call(listApplicationKeys, { query });
      expect(names(body)).toEqual(["c", "d"]);
      expect(body.meta.page).toEqual({ limit: 2, offset: 2, current: 2, total: 3 });
      expect(body.links.next).toMatch(/\?page%5Blimit%5D=2&page%5Boffset%5D=4&page%5Bafter%5D=[\w-]+$/);
      expect(body.links.prev).toContain("page%5Boffset%5D=0");
      expect(body.links.last).toContain("page%5Boffset%5D=4");
    },
  );

  test("200 finds a key by its client id, in the own store only", async () => {
    const find = async (clientId: string) => {
      const { body } = await store.call(listApplicationKeys, { query: `filter=eq(client_id,${clientId})` });
      return { ids: body.data.map(({ id }: { id: string }) => id), total: body.meta.results.total };
    };
    const { key } = store;
    expect(await find(key.clientId)).toEqual({ ids: [key.id], total: 1 });
    const other = await latchkey.createStore(1);
    expect(await find(other.key.clientId)).toEqual({ ids: [], total: 0 });
  });

  test("400 for a filter by any other field", async () => {
    const { code } = await store.call(listApplicationKeys, { query: "filter=eq(name,Warehouse)" });
    expect(code).toBe("parameter_invalid");
  });

  test("200 ignores unknown page members", async () => {
    expect((await store.call(listApplicationKeys, { query: "page[total_method]=exact&x=1" })).status).toBe(
      200,
    );
  });

  test.each([
    "page[limit]=0",
    "page[limit]=101",
    "page[limit]=x",
    "page[limit]=",
    "page[limit]=-1",
    "page[offset]=10001",
    "page[limit]=1&page[limit]=2",
    "page[limit]=1e1",
    "page[after]=",
    "page[after]=%27",
    "page[after]=eyJ9",
    `page[after]=${"x".repeat(4097)}`,
  ])("400 for %s, with the parameter's name", async (query) => {
    const { status, body } = await store.call(listApplicationKeys, { query });
    expect(status).toBe(400);
    expect(body.errors[0].source.parameter).toMatch(/^page\[(limit|offset|after)\]$/);
  });
});

describe("reading and deleting an application key", () => {
  beforeAll(async () => {
    store = await latchkey.createStore(100);
  });

  test("200 with one key", async () => {
    const { body } = await store.call(getApplicationKey, { ids: { id: store.key.id } });
    expect(body.data.client_id).toBe(store.key.clientId);
  });

  test.each([
    "'",
    "%00",
    "..%2f",
    "a".repeat(5000),
    "%F0%9F%94%91",
    "__proto__",
    "01890000-0000-4000-8000-000000000000",
    "01890000-0000-7000-8000-00000000000G",
  ])("404 for the id %s (T29)", async (id) => {
    const answer = await store.call(getApplicationKey, { ids: { id } });
    expect([answer.status, answer.code]).toEqual([404, "application_key_not_found"]);
  });

  test("204 deletes the key, its secrets and its tokens", async () => {
    const made = (await create({ name: "Short-lived", reserved_rate_limit: 50 })).body.data;
    const form = {
      grant_type: "client_credentials",
      client_id: made.client_id,
      client_secret: made.client_secret,
    };
    const { access_token } = (await call(latchkey.app, issueAccessToken, { form })).body;
    expect((await call(latchkey.app, listApplicationKeys, { token: access_token })).status).toBe(200);
    expect((await store.call(deleteApplicationKey, { ids: { id: made.id } })).status).toBe(204);
    expect((await call(latchkey.app, listApplicationKeys, { token: access_token })).code).toBe(
      "token_invalid",
    );
    expect(await tokenStatus(made.client_id, made.client_secret)).toBe("client_unknown");
    expect((await store.call(deleteApplicationKey, { ids: { id: made.id } })).status).toBe(404);
    expect((await create({ name: "Takes its place", reserved_rate_limit: 100 })).status).toBe(201);
  });

  test("404 for another store's key, which stays", async () => {
    const other = await latchkey.createStore();
    expect((await store.call(deleteApplicationKey, { ids: { id: other.key.id } })).status).toBe(404);
    expect((await other.call(getApplicationKey, { ids: { id: other.key.id } })).status).toBe(200);
  });
});

describe("rotation of a secret", () => {
  beforeAll(async () => {
    store = await latchkey.createStore(100);
  });

  const rotate = (keyId: string, json?: unknown) =>
    store.call(rotateApplicationKey, { ids: { id: keyId }, ...(json !== undefined && { json }) });

  test("200 with a second secret; the old one works until its grace ends, then secret_rotated", async () => {
    const old = (await create({ name: "Rotating" })).body.data;
    const { status, body } = await rotate(old.id, { data: { grace_seconds: 60 } });
    expect(status).toBe(200);
    expect(body.data.client_id).toBe(old.client_id);
    expect(await tokenStatus(old.client_id, old.client_secret)).toBe(200);
    expect(await tokenStatus(old.client_id, body.data.client_secret)).toBe(200);
    latchkey.clock.advance(60_000);
    expect(await tokenStatus(old.client_id, old.client_secret)).toBe("secret_rotated");
    expect(await tokenStatus(old.client_id, body.data.client_secret)).toBe(200);
  });

  test("200 without a body: a day of grace", async () => {
    const old = (await create({ name: "A day" })).body.data;
    const { body } = await rotate(old.id);
    const [newest, oldest] = body.data.meta.secrets;
    expect(newest.expires_at).toBeNull();
    expect(Date.parse(oldest.expires_at) - latchkey.clock.now()).toBe(86_400_000);
  });

  test.each(["application/json", "application/x-www-form-urlencoded", "text/plain;charset=UTF-8"])(
    "200 for an empty body of type %s: the same as no body",
    async (type) => {
      const key = (await create({ name: "Rotating" })).body.data;
      const request = { ids: { id: key.id }, raw: "", headers: { "content-type": type } };
      expect((await store.call(rotateApplicationKey, request)).status).toBe(200);
    },
  );

  test("the key shows the last use of each secret", async () => {
    store = await latchkey.createStore(100);
    const old = (await create({ name: "Watched" })).body.data;
    await rotate(old.id);
    await tokenStatus(old.client_id, old.client_secret);
    await latchkey.app.tidy();
    const { body } = await store.call(getApplicationKey, { ids: { id: old.id } });
    const [newest, oldest] = body.data.meta.secrets;
    expect(newest.last_used_at).toBeNull();
    expect(Date.parse(oldest.last_used_at)).toBe(latchkey.clock.now());
  });

  test("a grace of 0 ends all older secrets at once", async () => {
    const first = (await create({ name: "Leaked" })).body.data;
    const second = (await rotate(first.id)).body.data;
    const third = (await rotate(first.id, { data: { grace_seconds: 0 } })).body.data;
    expect(await tokenStatus(first.client_id, first.client_secret)).toBe("secret_rotated");
    expect(await tokenStatus(first.client_id, second.client_secret)).toBe("secret_rotated");
    expect(await tokenStatus(first.client_id, third.client_secret)).toBe(200);
    expect(third.meta.secrets).toHaveLength(1);
  });

  test("a later grace never extends an older secret's time", async () => {
    const first = (await create({ name: "Short" })).body.data;
    await rotate(first.id, { data: { grace_seconds: 10 } });
    await rotate(first.id, { data: { grace_seconds: 1000 } });
    latchkey.clock.advance(10_000);
    expect(await tokenStatus(first.client_id, first.client_secret)).toBe("secret_rotated");
  });

  test("at most ten expired secrets are remembered; every secret in its grace works", async () => {
    const key = (await create({ name: "Restless" })).body.data;
    for (let i = 0; i < 14; i++) await rotate(key.id, { data: { grace_seconds: 0 } });
    const rows = await latchkey.storage.db
      .selectFrom("application_key_secrets")
      .select("id")
      .where("application_key_id", "=", key.id)
      .execute();
    expect(rows.length).toBeLessThanOrEqual(12);
    const first = (await create({ name: "Patient" })).body.data;
    for (let i = 0; i < 12; i++) await rotate(first.id, { data: { grace_seconds: 2_592_000 } });
    expect(await tokenStatus(first.client_id, first.client_secret)).toBe(200);
  });

  test("409 when fifty secrets would work at once; no secret is made", async () => {
    store = await latchkey.createStore(1000);
    const key = (await create({ name: "Hoarder" })).body.data;
    for (let i = 0; i < 49; i++) expect((await rotate(key.id)).status).toBe(200);
    expect((await rotate(key.id)).code).toBe("too_many_live_secrets");
    const { body } = await store.call(getApplicationKey, { ids: { id: key.id } });
    expect(body.data.meta.secrets).toHaveLength(50);
  });

  test.each([-1, 2_592_001, 1.5, "60", null])(
    "400 for grace_seconds %j; no secret changes",
    async (grace) => {
      const key = (await create({ name: "Kept" })).body.data;
      expect((await rotate(key.id, { data: { grace_seconds: grace } })).status).toBe(400);
      expect(
        (await store.call(getApplicationKey, { ids: { id: key.id } })).body.data.meta.secrets,
      ).toHaveLength(1);
    },
  );

  test("409 for another key's id in the body; no secret changes", async () => {
    const key = (await create({ name: "Kept" })).body.data;
    expect((await rotate(key.id, { data: { id: store.key.id } })).code).toBe("id_mismatch");
    expect((await rotate(key.id, { data: { id: key.id } })).body.data.meta.secrets).toHaveLength(2);
  });

  test("404 for an unknown key", async () => {
    expect((await rotate("01890000-0000-7000-8000-000000000000")).status).toBe(404);
  });
});
