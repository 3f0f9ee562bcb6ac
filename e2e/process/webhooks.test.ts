import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bothEngines, type TestDatabase } from "../../packages/server/test/support/engines.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { type Receiver, startReceiver } from "../../packages/server/test/support/receiver.ts";
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

/** Webhooks while processes are killed: no acknowledged event is lost, and a repeated message has the same id. */

describe.each(bothEngines)("on $name", (engine) => {
  let database: TestDatabase;
  let receiver: Receiver;
  let place: Place;
  let running: Running[];
  let made: Made;
  let token: string;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    running = [];
    database = await engine.create();
    receiver = await startReceiver();
    place = await newPlace(database.url);
    place.env.LATCHKEY_EGRESS_ALLOW = receiver.origin;
    running.push(await serve(place));
    made = await createStore(place, "--rate-limit", "100000");
    token = await getToken(place.url, made);
  });
  afterEach(async () => {
    for (const { child, exited } of running ?? []) {
      child.kill("SIGKILL");
      await exited;
    }
    await receiver?.close();
    place?.leave();
    await database?.drop();
  });

  async function post(path: string, data: object, url = place.url): Promise<{ id: string } | undefined> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ data }),
    }).catch(() => undefined);
    return answer?.status === 201 ? ((await answer.json()) as { data: { id: string } }).data : undefined;
  }

  const integrate = () =>
    post("/v2/integrations", {
      type: "integration",
      name: "Newsletter",
      integration_type: "webhook",
      observes: ["customer.created"],
      configuration: { url: receiver.url },
    });

  const subjects = () => new Set(receiver.arrived.map(({ json }) => json.subject));

  test("after kill -9 during a delivery: no message is lost, and a repeated message has the same id (wire 17)", async () => {
    await integrate();
    let second: Running | undefined;
    let url = place.url;
    if (engine.name === "postgres") {
      const port = String(await freePort());
      url = `http://localhost:${port}`;
      second = await serve({
        ...place,
        env: { ...place.env, PORT: port, LATCHKEY_PUBLIC_URL: place.url },
        url,
      });
      running.push(second);
    }
    // The receiver takes a moment for each, so that some are always under way.
    receiver.answer((response) => void setTimeout(() => response.writeHead(200).end(), 20));
    const acknowledged: string[] = [];
    for (let round = 0; round < 2; round++) {
      for (let wanted = 0; wanted < 40; wanted++) {
        const name = `r${round}n${wanted}`;
        const customer = await post(
          "/v2/customers",
          { type: "customer", name, email: `${name}@shop.example` },
          url,
        );
        if (customer) acknowledged.push(customer.id);
      }
      // The kill comes while some are under way; both instances are killed in turn, because either may deliver.
      const reached = receiver.arrived.length;
      await until(
        () =>
          receiver.open().now > 0 ||
          receiver.arrived.length > reached ||
          subjects().size >= acknowledged.length,
      );
      const [victim] = running;
      victim?.child.kill("SIGKILL");
      await victim?.exited;
      running[0] = await serve(place);
    }
    expect(acknowledged.length).toBeGreaterThan(40);
    await until(() => subjects().size >= acknowledged.length, 120_000);
    for (const customer of acknowledged) expect(subjects()).toContain(customer);
    const idsBySubject = Map.groupBy(receiver.arrived, ({ json }) => json.subject);
    for (const messages of idsBySubject.values())
      expect(new Set(messages.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  }, 240_000);

  test("SIGTERM stops in order beside a silent receiver and an endless request; the next start sends again", async () => {
    await integrate();
    receiver.answer(() => {});
    const half = connect(Number(new URL(place.url).port), "127.0.0.1");
    half.on("error", () => {});
    half.write("POST /v2/customers HTTP/1.1\r\nHost: localhost\r\n");
    await post("/v2/customers", { type: "customer", name: "Ada", email: "ada@shop.example" });
    await until(() => receiver.open().now === 1);
    const [service] = running;
    service?.child.kill("SIGTERM");
    // Requests that have not ended within ten seconds are cut off, with exit code 1.
    expect(await service?.exited).toBe(0);
    receiver.answer(200);
    running[0] = await serve(place);
    await until(() => receiver.arrived.length === 2, 120_000);
    const [first, again] = receiver.arrived;
    expect(again?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  }, 180_000);
});
