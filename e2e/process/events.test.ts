import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { bothEngines, type TestDatabase } from "../../packages/server/test/support/engines.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import {
  createStore,
  getToken,
  type Made,
  newPlace,
  type Place,
  type Running,
  serve,
} from "../support/running.ts";

/** The log while processes are killed and paused: every acknowledged change is in it once, and it stays complete. */

type Listed = { data: { sequence: string; type: string; subject: string }[]; links: { next: string | null } };

describe.each(bothEngines)("on $name", (engine) => {
  let database: TestDatabase;
  let place: Place;
  let running: Running[];
  let made: Made;
  let token: string;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    place = await newPlace(database.url);
    running = [await serve(place)];
    made = await createStore(place, "--rate-limit", "100000");
    token = await getToken(place.url, made);
  });
  afterEach(async () => {
    for (const { child, exited } of running ?? []) {
      child.kill("SIGCONT");
      child.kill("SIGKILL");
      await exited;
    }
    place?.leave();
    await database?.drop();
  });

  async function createCustomer(url: string, name: string): Promise<string | undefined> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const body = JSON.stringify({ data: { type: "customer", name, email: `${name}@shop.example` } });
    try {
      const answer = await fetch(`${url}/v2/customers`, { method: "POST", headers, body });
      if (answer.status !== 201) return undefined;
      return ((await answer.json()) as { data: { id: string } }).data.id;
    } catch {
      return undefined;
    }
  }

  /** The customers whose creation is in the log, read in the order of the numbers. */
  async function followed(url: string): Promise<string[]> {
    const seen: string[] = [];
    let next: string | null = `${url}/v2/events?types=customer.created&page[limit]=100`;
    while (next !== null) {
      const answer: Response = await fetch(next, { headers: { authorization: `Bearer ${token}` } });
      const { data, links } = (await answer.json()) as Listed;
      seen.push(...data.map(({ subject }) => subject));
      next = links.next === null ? null : `${url}${links.next.slice(links.next.indexOf("/v2/"))}`;
    }
    return seen;
  }

  const verify = async () => latchkey(["events", "verify", "--store", made.store.id], place.env);

  test("after kill -9 at any moment: every acknowledged change is in the log once, after the next start", async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const [service] = running;
      let at = 0;
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        for (let isServed = true; isServed; ) {
          const id = await createCustomer(place.url, `r${round}w${writer}n${at++}`);
          if (id) acknowledged.push(id);
          isServed = id !== undefined;
        }
      });
      const target = acknowledged.length + 40;
      await until(() => acknowledged.length > target);
      service?.child.kill("SIGKILL");
      await service?.exited;
      await Promise.all(writers);
      running = [await serve(place)];
      token = await getToken(place.url, made);
    }
    await until(async () => {
      const seen = new Set(await followed(place.url));
      return acknowledged.every((id) => seen.has(id));
    });
    const seen = await followed(place.url);
    expect(new Set(seen).size).toBe(seen.length);
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining("whole: ") });
  });

  if (engine.name === "sqlite") return;

  test("a paused instance delays the others by less than five seconds, and repeats nothing afterwards", async () => {
    const url = `http://localhost:${await freePort()}`;
    const other = { ...place, url, env: { ...place.env, PORT: new URL(url).port } };
    running.push(await serve(other));
    const [paused] = running;
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      // Both write, so that either may hold the sequencer's lock when it is paused.
      const writing = Array.from({ length: 10 }, (_, at) =>
        createCustomer(at % 2 ? url : place.url, `r${round}n${at}`),
      );
      await Promise.race(writing);
      paused?.child.kill("SIGSTOP");
      for (let at = 0; at < 5; at++) {
        const id = await createCustomer(url, `r${round}while${at}`);
        if (id) acknowledged.push(id);
      }
      const sinceMs = performance.now();
      await until(async () => {
        const seen = new Set(await followed(url));
        return acknowledged.every((id) => seen.has(id));
      });
      // Five seconds, and the time of the reads on a busy machine.
      expect(performance.now() - sinceMs).toBeLessThan(10_000);
      paused?.child.kill("SIGCONT");
      for (const id of await Promise.all(writing)) if (id) acknowledged.push(id);
    }
    await until(async () => {
      const seen = new Set(await followed(url));
      return acknowledged.every((id) => seen.has(id));
    });
    const seen = await followed(url);
    expect(new Set(seen).size).toBe(seen.length);
    expect(await verify()).toMatchObject({ code: 0 });
  });
});
