import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { cellsOf, columnsOf, rowOf } from "../../src/contract/columns.ts";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { limits } from "../../src/contract/limits.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { isPermitted } from "../../src/contract/permissions.ts";
import { call, toRequest } from "../support/call.ts";
import { csvRows } from "../support/csv.ts";
import { observe } from "../support/observed.ts";
import { everyOperation, goodRequest, latchkey, of, store } from "./requests.ts";

/** Rules that hold for each list, and for each file that counts as an export. */

everyOperation();

// Exports are counted for an hour, and these tests make more than an hour may have.
beforeEach(() => latchkey.clock.advance(600_000));

const CSV = { accept: "text/csv" };
const request = async (operation: Operation) => ({ ...goodRequest(operation), token: await store.token() });
const lists = of((operation) => rowOf(operation) !== undefined);
const publicLists = of(
  (operation) =>
    rowOf(operation) !== undefined &&
    typeof operation.access !== "string" &&
    (isPermitted("implicit", operation.access) || isPermitted("customer", operation.access)),
);
const exports = of(
  (operation) => rowOf(operation) !== undefined || operation.success.attachment !== undefined,
);

describe.each(lists)("%s", (_, operation) => {
  const row = rowOf(operation);
  const columns = row ? columnsOf(row) : [];

  test("as CSV it has the rows of the JSON, a column for each member", async () => {
    const asked = await request(operation);
    const json = await call(latchkey.app, operation, { ...asked, query: "page[limit]=100" });
    const csv = await call(latchkey.app, operation, { ...asked, headers: CSV });
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(csv.headers.get("content-disposition")).toMatch(
      /^attachment; filename="[a-z-]+-\d{4}-\d\d-\d\d\.csv"$/,
    );
    expect(csv.headers.get("cache-control")).toBe("no-store");
    const [head, ...rows] = csvRows(csv.body);
    expect(head).toEqual(columns.map(({ name }) => name));
    expect(rows).toEqual(json.body.data.map((item: unknown) => cellsOf(columns, item)));
  });

  test("both forms have `Vary: Accept`; `*/*` and other types stay JSON", async () => {
    const asked = await request(operation);
    for (const headers of [{}, { accept: "*/*" }, { accept: "text/html" }, CSV]) {
      const answer = await call(latchkey.app, operation, { ...asked, headers });
      expect(answer.headers.get("vary")).toBe("Accept");
      const isCsv = headers === CSV;
      expect(answer.headers.get("content-type")).toBe(isCsv ? "text/csv; charset=utf-8" : "application/json");
    }
  });
});

describe.each(publicLists)("%s", (_, operation) => {
  test("406 for CSV with a public token; JSON where the request takes it too", async () => {
    const token = await store.token("implicit");
    const own = { email: "target@shop.example", password: "correct horse" };
    const { body } = await call(latchkey.app, issueCustomerToken, {
      token,
      json: { data: { type: "token", ...own } },
    });
    const ask = (accept: string) =>
      call(latchkey.app, operation, {
        ...goodRequest(operation),
        token,
        headers: { accept, "x-customer-token": body.data.token },
      });
    const refused = await ask("text/csv");
    expect([refused.status, refused.code]).toEqual([406, "not_acceptable"]);
    expect(refused.body.errors[0].source).toEqual({ header: "Accept" });
    expect((await ask("text/csv, */*;q=0.1")).headers.get("content-type")).toBe("application/json");
  });
});

describe.each(exports)("%s", (_, operation) => {
  test("429 while the store has as many exports under way as it may; a client that leaves makes room", async () => {
    const asked = { ...(await request(operation)), headers: CSV };
    const open = async () => {
      const response = await latchkey.app.fetch(toRequest(operation, asked));
      observe(operation.id, String(response.status));
      return response;
    };
    const opened: Response[] = [];
    for (let at = 0; at < limits.exportsAtOnce; at++) opened.push(await open());
    expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200));
    onTestFinished(async () => {
      for (const { body } of opened) await body?.cancel();
    });
    const refused = await call(latchkey.app, operation, asked);
    expect([refused.status, refused.code]).toEqual([429, "exports_exceeded"]);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(refused.body.errors[0].meta).toMatchObject({ bucket: "at_once", exports: limits.exportsAtOnce });
    await opened.pop()?.body?.cancel();
    expect((await call(latchkey.app, operation, asked)).status).toBe(200);
  });
});
