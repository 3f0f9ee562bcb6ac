import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  findBinaries,
  type PostgresServer,
  startPostgres,
} from "../packages/server/test/support/postgres-server.ts";
import { until } from "../packages/server/test/support/until.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "./running.ts";

/**
 * A checker of histories: several writers, each on rows of its own, note what was acknowledged while PostgreSQL stands still
 * again and again. After each time a connection that has seen nothing of it must find every acknowledged write (I2).
 */
const binaries = process.platform === "linux" ? findBinaries() : undefined;
const STOPS = 6;
const WRITERS = 8;

/** A row that one writer changes: its last acknowledged value, and what may have been carried out since without a word. */
type Row = { id: string; acknowledged: string | undefined; possible: Set<string | undefined> };

describe.skipIf(!binaries)("PostgreSQL stands still at random, under a mixed load", () => {
  let server: PostgresServer;
  let place: Place;
  let running: Running;
  let witness: pg.Client;

  beforeEach(async () => {
    server = await startPostgres(binaries as string);
    place = await newPlace(server.url);
    running = await serve(place);
    witness = new pg.Client({ connectionString: server.url });
    await witness.connect();
  });
  afterEach(async () => {
    server?.resume();
    await witness?.end();
    running?.child.kill("SIGKILL");
    await running?.exited;
    place?.leave();
    await server?.remove();
  });

  test("every write that was acknowledged is there for a new connection (I2)", async () => {
    const made = await createStore(place, "--rate-limit", "100000");
    const token = await getToken(place.url, made);
    const seen = new Map<number, number>();
    const count = (statuses: (status: number) => boolean) =>
      [...seen].reduce((sum, [status, times]) => (statuses(status) ? sum + times : sum), 0);
    const acknowledged = () => count((status) => status < 300);
    const refused = () => count((status) => status === 503);

    async function ask(
      method: string,
      path: string,
      body?: object,
    ): Promise<{ status: number; id?: string }> {
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      const sent = body && { body: JSON.stringify(body) };
      const answer = await fetch(`${place.url}${path}`, { method, headers, ...sent });
      const text = await answer.text();
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      return { status: answer.status, id: text === "" ? undefined : JSON.parse(text).data?.id };
    }

    /** Notes before it asks what may come of it, and afterwards what was said. */
    async function change(row: Row, value: string | undefined, method: string, path: string, body?: object) {
      row.possible.add(value);
      const { status } = await ask(method, path, body);
      if (status >= 300) return;
      row.acknowledged = value;
      row.possible = new Set([value]);
    }

    const realms: Row[] = [];
    const customers: Row[] = [];
    const newRow = (id: string, value: string): Row => ({
      id,
      acknowledged: value,
      possible: new Set([value]),
    });
    for (let index = 0; index < WRITERS; index++) {
      const body = { data: { type: "authentication-realm", name: "first" } };
      realms.push(newRow((await ask("POST", "/v2/authentication-realms", body)).id as string, "first"));
    }

    let isOver = false;
    let isQuiet = false;
    /** One statement for each change. */
    async function renameRealm(row: Row): Promise<void> {
      for (let round = 0; !isOver && round < 100_000; round++) {
        const body = { data: { type: "authentication-realm", name: `round ${round}` } };
        await change(row, `round ${round}`, "PUT", `/v2/authentication-realms/${row.id}`, body);
      }
    }
    /** A transaction for each change: while they rest, nobody else's COMMIT can mend what one of them has left open. */
    async function makeCustomers(index: number): Promise<void> {
      for (let round = 0; !isOver && round < 100_000; round++) {
        await until(() => !isQuiet || isOver, 60_000);
        const email = `${index}-${round}@shop.example`;
        const body = { data: { type: "customer", name: "first", email } };
        const { status, id } = await ask("POST", "/v2/customers", body);
        if (status !== 201) continue;
        const row = newRow(id as string, "first");
        customers.push(row);
        const renamed = { data: { type: "customer", name: "second" } };
        await change(row, "second", "PUT", `/v2/customers/${id}`, renamed);
        if (round % 3 === 0) await change(row, undefined, "DELETE", `/v2/customers/${id}`);
      }
    }
    const writers = [...realms.map(renameRealm), ...realms.map((_, index) => makeCustomers(index))];

    async function findLost(table: string, rows: readonly Row[]): Promise<object[]> {
      // Taken down before the question: what is acknowledged while it is under way may or may not be in the answer.
      const expected = rows.map((row) => ({ id: row.id, before: row.acknowledged }));
      const { rows: found } = await witness.query(`select id, name from ${table}`);
      const names = new Map(found.map(({ id, name }) => [id as string, name as string]));
      const after = new Map(rows.map((row) => [row.id, row]));
      return expected
        .map(({ id, before }) => ({ id, before, found: names.get(id), possible: after.get(id)?.possible }))
        .filter(
          ({ before, found, possible }) =>
            before !== found && !possible?.has(found) && !isLater(before, found),
        );
    }

    try {
      for (let stop = 0; stop < STOPS; stop++) {
        isQuiet = false;
        const before = acknowledged();
        await until(() => acknowledged() > before + 100, 30_000);
        const refusedBefore = refused();
        server.pause();
        await until(() => refused() >= refusedBefore + WRITERS, 15_000);
        isQuiet = true;
        server.resume();
        const resumed = acknowledged();
        await until(() => acknowledged() > resumed + 100, 30_000);
        expect(await findLost("authentication_realms", realms)).toEqual([]);
        expect(await findLost("customers", customers)).toEqual([]);
      }
    } finally {
      isOver = true;
      await Promise.allSettled(writers);
    }
    expect(await findLost("authentication_realms", realms)).toEqual([]);
    expect(await findLost("customers", customers)).toEqual([]);
    expect(count((status) => status >= 500 && status !== 503)).toBe(0);
  }, 150_000);
});

/** A writer's rounds only go up, so a later one than was acknowledged has simply been acknowledged since. */
const isLater = (before: string | undefined, found: string | undefined): boolean => {
  const round = (name: string | undefined) => Number(name?.match(/^round (\d+)$/)?.[1] ?? -1);
  return round(found) > round(before);
};
