import fc from "fast-check";
import { type CompiledQuery, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { listApplicationKeys } from "../../src/contract/application-keys.ts";
import { listCustomerTokens } from "../../src/contract/customer-tokens.ts";
import { listCustomers } from "../../src/contract/customers.ts";
import { listRealms } from "../../src/contract/realms.ts";
import { listSignOns } from "../../src/contract/sign-ons.ts";
import type { Condition, Page, PagePosition, Sort } from "../../src/lib/condition.ts";
import { newId } from "../../src/lib/ids.ts";
import { readPage } from "../../src/storage/lists/page.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { insertCrowd } from "../support/many-rows.ts";
import { mostInOneTurn, planOf, watchStatements } from "../support/statements.ts";

type Row = { name: string; email: string; ref: string | null; createdAt: number; updatedAt: number };

/** Few values, so that many rows are equal in the sorted column. */
const row: fc.Arbitrary<Row> = fc.record({
  name: fc.constantFrom("Ada", "ADA", "ada b", "Bea", "bea%", "Zoe", "\u{1F511}", "\u{FF21}", "\u{E000}"),
  email: fc.constantFrom("a@x.example", "ab@x.example", "b@x.example", "b_@y.example"),
  ref: fc.constantFrom(null, "one", "two"),
  createdAt: fc.integer({ min: 1, max: 4 }),
  updatedAt: fc.integer({ min: 1, max: 3 }),
});

const instantCondition = (field: string) =>
  fc.record({
    field: fc.constant(field),
    operator: fc.constantFrom("eq" as const, "gt" as const, "ge" as const, "lt" as const, "le" as const),
    value: fc.integer({ min: 0, max: 4 }),
  });
const textCondition = (field: string, operator: "eq" | "like", values: string[]) =>
  fc.record({
    field: fc.constant(field),
    operator: fc.constant(operator),
    value: fc.constantFrom(...values),
  });
const condition: fc.Arbitrary<Condition> = fc.oneof(
  instantCondition("created_at"),
  instantCondition("updated_at"),
  textCondition("name", "eq", ["Ada", "bea%", "nobody"]),
  textCondition("name", "like", ["ada", "A*", "*a", "*%*", "b*a*", "*"]),
  textCondition("email", "eq", ["a@x.example", "b@x.example"]),
  textCondition("email", "like", ["a*", "*@x*", "b_*"]),
  textCondition("external_ref", "eq", ["one", "two"]),
);
const sort: fc.Arbitrary<Sort> = fc.record({
  field: fc.constantFrom("created_at", "updated_at", "name", "email"),
  descending: fc.boolean(),
});

const fieldsOf = (given: Row): Record<string, string | number | null> => ({
  name: given.name,
  email: given.email,
  external_ref: given.ref,
  created_at: given.createdAt,
  updated_at: given.updatedAt,
});

function fulfils(given: Row, { field, operator, value }: Condition): boolean {
  const has = fieldsOf(given)[field];
  if (has === null || has === undefined) return false;
  if (operator === "like") {
    const parts = String(value)
      .split("*")
      .map((part) => part.replaceAll(/[^\w]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "i").test(String(has));
  }
  if (operator === "eq") return has === value;
  const [a, b] = [Number(has), Number(value)];
  return { gt: a > b, ge: a >= b, lt: a < b, le: a <= b }[operator];
}

describe.each(engines)("lists on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await latchkey?.close();
    await database?.drop();
  });
  const engineTest = test.skipIf(!engine.isHere);

  async function insert(storeId: string, rows: readonly Row[]): Promise<string[]> {
    const values = rows.map((given) => ({
      id: newId(),
      store_id: storeId,
      name: given.name,
      email: given.email,
      email_key: given.email,
      email_verified: 0,
      password_hash: null,
      external_ref: given.ref,
      authentication_mechanism: "oidc",
      created_at: given.createdAt,
      updated_at: given.updatedAt,
    }));
    if (values.length > 0) await latchkey.storage.db.insertInto("customers").values(values).execute();
    return values.map(({ id }) => id);
  }

  type Seen = { id: string; name: string; email: string; created_at: number; updated_at: number };
  type Asked = { conditions: Condition[]; sort: Sort | undefined };

  async function walk(storeId: string, asked: Asked, limit: number, between = async () => {}) {
    const of = { store_id: storeId };
    const seen: Seen[] = [];
    let after: string | undefined;
    let offset = 0;
    do {
      const page: Page = { limit, offset: 0, after };
      const { rows, place }: { rows: Seen[]; place: PagePosition } = await readPage(
        latchkey.storage,
        "customers",
        of,
        page,
        asked,
      );
      expect(place.offset).toBe(offset);
      if (place.next) expect(rows).toHaveLength(limit);
      seen.push(...rows);
      after = place.next?.after;
      offset += rows.length;
      await between();
    } while (after !== undefined);
    return seen;
  }

  engineTest("whatever is asked for, the pages together have every row once, in order", async () => {
    const conditions = fc.array(condition, { maxLength: 3 });
    const asked = fc.record({ conditions, sort: fc.option(sort, { nil: undefined }) });
    const rows = fc.array(row, { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.array(asked, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, several, limit) => {
          const { store } = await latchkey.createStore();
          const ids = await insert(store.id, rows);
          for (const one of several) {
            const meant = ids.filter((_, at) =>
              one.conditions.every((condition) => fulfils(rows[at] as Row, condition)),
            );
            const seen = await walk(store.id, one, limit);
            expect(seen.map(({ id }) => id).toSorted()).toEqual(meant.toSorted());
            const whole = await readPage(
              latchkey.storage,
              "customers",
              { store_id: store.id },
              { limit: 100, offset: 0 },
              one,
            );
            expect(whole.place).toMatchObject({ total: meant.length, isAtLeast: false });
            expect(whole.rows.map(({ id }) => id)).toEqual(seen.map(({ id }) => id));
            if (!one.sort) continue;
            const { field, descending } = one.sort;
            const keys = seen.map((seenRow) => {
              const value = seenRow[field as "name"];
              return typeof value === "string" ? value.toLowerCase() : value;
            });
            const inOrder = keys.toSorted((a, b) =>
              typeof a === "string" ? Buffer.from(a).compare(Buffer.from(b)) : a - Number(b),
            );
            expect(keys).toEqual(descending ? inOrder.reverse() : inOrder);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  engineTest.each<[string, Sort | undefined]>([
    ["as they come", undefined],
    ["by name", { field: "name", descending: false }],
    ["by e-mail, backwards", { field: "email", descending: true }],
  ])("rows that come and go meanwhile move no others from page to page: %s", async (_, sort) => {
    const { store } = await latchkey.createStore();
    const same: Row = { name: "Ada", email: "m@x.example", ref: null, createdAt: 5, updatedAt: 5 };
    const staying = await insert(store.id, Array<Row>(20).fill(same));
    const going = await insert(store.id, Array<Row>(20).fill(same));
    const between = async () => {
      await insert(store.id, [same, { ...same, name: "Aaa", email: "a@x.example", createdAt: 1 }]);
      const id = going.pop();
      if (id) await latchkey.storage.db.deleteFrom("customers").where("id", "=", id).execute();
    };
    let turns = 0;
    const seen = await walk(store.id, { conditions: [], sort }, 7, async () => {
      if (turns++ < 15) await between();
    });
    const ids = seen.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of staying) expect(ids.filter((one) => one === id)).toHaveLength(1);
  });

  engineTest("a page goes on behind its last row, also when that row is gone", async () => {
    const { store } = await latchkey.createStore();
    const same: Row = { name: "Ada", email: "m@x.example", ref: null, createdAt: 5, updatedAt: 5 };
    const ids = await insert(store.id, Array<Row>(6).fill(same));
    const seen: string[] = [];
    for (let after: string | undefined, turn = 0; turn === 0 || after !== undefined; turn++) {
      const page = { limit: 2, offset: 0, after };
      const { rows, place } = await readPage(latchkey.storage, "customers", { store_id: store.id }, page);
      for (const { id } of rows) {
        seen.push(id);
        await latchkey.storage.db.deleteFrom("customers").where("id", "=", id).execute();
      }
      after = place.next?.after;
    }
    expect(seen).toEqual(ids.toSorted().toReversed());
  });

  engineTest(
    "pages are read by an index, and nothing is sorted, whatever is filtered and sorted by",
    async () => {
      const statements: CompiledQuery[] = [];
      const watched = watchStatements(latchkey.storage, (statement) => {
        if (/^\s*select/.test(statement.sql)) statements.push(statement);
      });
      const watching = await createTestApp({ storage: watched, clock: latchkey.clock });
      const store = await latchkey.createStore(1_000_000);
      const crowd = { storeId: store.store.id, count: 4, overAt: latchkey.clock.now() };
      await insertCrowd(latchkey.storage, crowd);
      const own = await store.token();
      const instants = ["eq", "gt", "le"].map((operator) => `${operator}(created_at,2026-01-01)`);
      const customerFilters = [
        "",
        ...instants,
        "gt(updated_at,2026-01-01)",
        "eq(name,Somebody 1)",
        "like(name,somebody*)",
        "like(name,*1)",
        "eq(email,somebody1@shop.example)",
        "like(email,somebody*)",
        "eq(external_ref,x)",
        "eq(name,Somebody 1):gt(created_at,2020-01-01)",
      ].map((filter) => (filter ? `filter=${filter}` : ""));
      const sorts = ["created_at", "updated_at", "name", "email"].flatMap((field) => [field, `-${field}`]);
      const signOnFilters = ["reference", "profile_id", "outcome", "reason", "customer_id"].map(
        (field) => `filter=eq(${field},x):gt(started_at,2020-01-01)`,
      );
      const ids = { customer: `${store.store.id.slice(0, 24)}cccc00000001` };
      const ask = async (operation: Parameters<typeof call>[1], query: string) => {
        const request = { token: own, query: `page[limit]=2&${query}`, ...(operation.ids && { ids }) };
        const { body, status } = await call(watching.app, operation, request);
        if (status === 200 && body.links.next) {
          const further = new URL(body.links.next).search.slice(1);
          await call(watching.app, operation, { ...request, query: further });
        }
      };
      statements.length = 0;
      for (const filter of customerFilters)
        for (const query of [filter, ...sorts.map((by) => `${filter}&sort=${by}`)])
          await ask(listCustomers, query);
      for (const query of ["", "sort=started_at", ...signOnFilters]) await ask(listSignOns, query);
      for (const operation of [listApplicationKeys, listRealms, listCustomerTokens]) await ask(operation, "");
      await ask(listApplicationKeys, "filter=eq(client_id,x)");
      await watching.app.stop();

      const lists = statements.filter(({ sql }) =>
        /from "(customers|sign_ons|application_keys|authentication_realms|customer_tokens)"/.test(sql),
      );
      const different = [...new Map(lists.map((statement) => [statement.sql, statement])).values()];
      expect(different.length).toBeGreaterThan(50);
      for (const statement of different) {
        const plan = await planOf(latchkey.storage, statement);
        expect(plan, statement.sql).toMatch(/SEARCH \w+ USING (COVERING )?INDEX|Index (Only )?Scan/);
        // Sorting the few secrets of one key is allowed, and so is a sum over all keys.
        if (/application_key_secrets|sum\(/.test(statement.sql)) continue;
        expect(plan, statement.sql).not.toMatch(/SCAN (?!CONSTANT ROW|counted)|TEMP B-TREE|Seq Scan|Sort/);
      }
    },
  );

  describe("of many rows", () => {
    const MANY = 20_300;
    let store: TestStore;

    beforeAll(async () => {
      if (!engine.isHere) return;
      store = await latchkey.createStore(1_000_000);
      const { clock, storage } = latchkey;
      const tables = ["customers", "sign_ons"];
      await insertCrowd(storage, { storeId: store.store.id, count: MANY, overAt: clock.now(), tables });
      // Autovacuum does the same within a minute: PostgreSQL then has statistics of the tables.
      if (engine.name === "postgres")
        for (const table of tables) await sql`analyze ${sql.table(table)}`.execute(storage.db);
    });

    const get = async (
      query: string,
      operation: typeof listCustomers | typeof listSignOns = listCustomers,
    ) => {
      const { status, body } = await store.call(operation, { query });
      expect(status, JSON.stringify(body.errors)).toBe(200);
      return body;
    };

    engineTest("count to 10,000, and then say that there are at least so many", async () => {
      for (const query of ["", "sort=-name", "filter=like(email,some*)", "page[offset]=9950"]) {
        const { meta } = await get(`page[limit]=50&${query}`);
        expect(meta.results, query).toEqual({ total: 10_000, total_is_at_least: true });
        expect(meta.page.total, query).toBe(200);
      }
      const beyond = (await get("page[limit]=50&page[offset]=10000")).meta;
      expect(beyond.results).toEqual({ total: 10_050, total_is_at_least: true });
      const first = await get("page[limit]=50");
      const last = await get(new URL(first.links.last).search.slice(1));
      expect(last.meta.page).toMatchObject({ offset: 9950, current: 200 });
      const narrowed = await get("filter=like(name,Somebody 2*9)&page[limit]=5");
      expect(narrowed.meta.results).toEqual({ total: 141 });
      expect((await get("filter=eq(outcome,failed)", listSignOns)).meta.results).toEqual({ total: 0 });
      expect((await get("filter=like(name,somebody 2*)&page[limit]=5")).meta.results).toEqual({
        total: 1411,
      });
    });

    engineTest("are not counted again for the next page, in whatever order it is", async () => {
      const counts: string[] = [];
      const storage = watchStatements(latchkey.storage, ({ sql: text }) => {
        if (text.includes("count(*)")) counts.push(text);
      });
      const read = (sort: Sort, conditions: Condition[]) =>
        readPage(
          storage,
          "customers",
          { store_id: store.store.id },
          { limit: 5, offset: 0 },
          { sort, conditions },
        );
      const long: Condition = { field: "created_at", operator: "ge", value: 1 };
      const short: Condition = { field: "name", operator: "like", value: "somebody 2*" };
      for (const descending of [true, false])
        for (const condition of [long, short]) {
          const field = condition === long ? "created_at" : "name";
          const { place } = await read({ field, descending }, [condition]);
          expect(place).toMatchObject(
            condition === long ? { total: 10_000, isAtLeast: true } : { total: 1411, isAtLeast: false },
          );
        }
      expect(counts.length).toBe(3);
    });

    engineTest("lead on by links.next to the end, beyond what an offset reaches", async () => {
      const seen = new Set<string>();
      let pages = 0;
      for (let query = "page[limit]=100&sort=name"; ; pages++) {
        const { data, meta, links } = await get(query);
        expect(meta.page).toMatchObject({ offset: pages * 100, current: pages + 1 });
        expect(meta.page.total).toBeGreaterThanOrEqual(meta.page.current);
        expect(links.prev === null).toBe(pages === 0 || pages > 101);
        for (const { id } of data) seen.add(id);
        if (links.next === null) break;
        query = new URL(links.next).search.slice(1);
      }
      expect([seen.size, pages + 1]).toEqual([MANY, MANY / 100]);
    });

    engineTest(
      "422 where too many rows would have to be looked at one by one, with what to do about it",
      async () => {
        const refused = [
          [listCustomers, "filter=like(email,*nobody*)"],
          [listCustomers, "filter=like(name,*x):ge(created_at,2000-01-01)&sort=email"],
          [listSignOns, "filter=eq(outcome,exchanged):eq(profile_id,other)"],
        ] as const;
        for (const [operation, query] of refused) {
          const answer = await store.call(operation, { query });
          expect([answer.status, answer.code], query).toEqual([422, "filter_too_wide"]);
          expect(answer.body.errors[0].source).toEqual({ parameter: "filter" });
        }
        expect((await get("filter=like(email,nobody*)")).data).toEqual([]);
        const searched = await get("filter=like(email,*body1*)&page[limit]=3");
        expect(searched.data).toHaveLength(3);
        expect(searched.meta.results.total_is_at_least).toBe(true);
      },
    );

    engineTest("many searches of one store at once take turns: one of them goes on in each", async () => {
      const of = { store_id: store.store.id };
      const conditions: Condition[] = [{ field: "email", operator: "like", value: "*nobody*" }];
      const search = (storage: Storage) =>
        readPage(storage, "customers", of, { limit: 5, offset: 0 }, { conditions }).catch(
          ({ message }) => message,
        );
      const searchTen = async (storage: Storage) => {
        const found = await Promise.all(Array.from({ length: 10 }, () => search(storage)));
        expect(found).toEqual(Array(10).fill("filter_too_wide"));
      };
      // Each reads the first two hundred rows at once.
      const goesOn = ({ sql, parameters }: CompiledQuery) =>
        sql.includes("is_found") && !parameters.includes(200);
      expect(await mostInOneTurn(latchkey.storage, searchTen, goesOn)).toBe(1);
    });

    engineTest("503 where twenty searches of one store are under way: one more would only wait", async () => {
      const query = "filter=like(email,*nobody*)";
      const ask = () => store.call(listCustomers, { query });
      const answers = await Promise.all(Array.from({ length: 200 }, ask));
      const counts = Map.groupBy(answers, ({ code }) => code);
      expect([...counts.keys()].toSorted()).toEqual(["filter_too_wide", "storage_unavailable"]);
      expect(counts.get("filter_too_wide")?.length).toBeGreaterThanOrEqual(20);
      expect(counts.get("storage_unavailable")?.[0]?.body.errors[0].detail).toContain("at once");
      expect((await ask()).code).toBe("filter_too_wide");
    });

    engineTest(
      "a search that has found something is walked to its end, however far apart its rows are",
      async () => {
        const { db } = latchkey.storage;
        const few = await db
          .selectFrom("customers")
          .select(["id", "name"])
          .where("store_id", "=", store.store.id)
          .orderBy("email_key")
          .limit(5)
          .execute();
        const rename = (id: string, name: string) =>
          db.updateTable("customers").set({ name }).where("id", "=", id).execute();
        for (const { id } of few) await rename(id, "Xqz");
        onTestFinished(async () => {
          for (const { id, name } of few) await rename(id, name);
        });
        const query = "filter=like(name,*qz*)&sort=email";
        expect((await get(`${query}&page[limit]=5`)).data).toHaveLength(5);
        const seen: string[] = [];
        for (let next = `${query}&page[limit]=3`, pages = 0; pages < 10; pages++) {
          const { data, links } = await get(next);
          seen.push(...data.map(({ id }: { id: string }) => id));
          if (links.next === null) break;
          next = new URL(links.next).search.slice(1);
        }
        expect(seen.toSorted()).toEqual(few.map(({ id }) => id).toSorted());
      },
    );

    engineTest(
      "a cursor goes before the offset beside it, which is for a release that knows no cursors",
      async () => {
        const first = await get("page[limit]=50&sort=name");
        const next = new URL(first.links.next).searchParams;
        expect(next.get("page[offset]")).toBe("50");
        const byCursor = await get(`page[limit]=50&sort=name&page[after]=${next.get("page[after]")}`);
        const byBoth = await get(new URL(first.links.next).search.slice(1));
        expect(byBoth.data).toEqual(byCursor.data);
        next.delete("page[after]");
        expect((await get(`${next}`)).data).toEqual(byCursor.data);
        const far = await get("page[limit]=50&page[offset]=10000");
        expect(new URL(far.links.next).searchParams.has("page[offset]")).toBe(false);
      },
    );

    engineTest(
      "400 for a cursor of another list, order or filter, and for one that was made up (A71)",
      async () => {
        const cursorOf = async (query: string) =>
          new URL((await get(`page[limit]=1&${query}`)).links.next).searchParams.get("page[after]") as string;
        const cursor = await cursorOf("sort=name");
        const parts = JSON.parse(Buffer.from(cursor, "base64url").toString());
        const made = (...values: unknown[]) =>
          Buffer.from(JSON.stringify([parts[0], ...values])).toString("base64url");
        expect((await get(`sort=name&page[after]=${cursor}`)).data).toHaveLength(25);
        for (const query of [
          `page[after]=${cursor}`,
          `sort=-name&page[after]=${cursor}`,
          `sort=name&filter=like(name,s*)&page[after]=${cursor}`,
          `sort=name&page[after]=${made(...parts.slice(1, -1))}`,
          `sort=name&page[after]=${made(1, "x", "now", "y")}`,
          `sort=name&page[after]=${made(-1, "x", 1, "y")}`,
          `sort=name&page[after]=${made(Number.MAX_SAFE_INTEGER, "x", 1, "y")}`,
          `sort=name&page[after]=${made(1, "x\0", 1, "y")}`,
          `sort=name&page[after]=${made(1, null, 1, {})}`,
          "page[after]=bnVsbA",
          "page[after]=e30",
        ]) {
          const answer = await store.call(listCustomers, { query });
          expect([answer.status, answer.code], query).toEqual([400, "parameter_invalid"]);
          expect(answer.body.errors[0].source).toEqual({ parameter: "page[after]" });
        }
        // With the right types it leads to another place in the same list: it is a value, not a part of a statement.
        const first = (await get("sort=name")).data;
        for (const text of ["'", "' or 1=1 --", "\\'; drop table customers; --", '")', "%", "$1", "?"])
          expect((await get(`sort=name&page[after]=${made(1, text, 1, text)}`)).data, text).toEqual(first);
        const other = await latchkey.createStore();
        const elsewhere = await other.call(listCustomers, { query: `sort=name&page[after]=${cursor}` });
        expect(elsewhere.code).toBe("parameter_invalid");
      },
    );
  });
});
