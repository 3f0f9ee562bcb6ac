import { describe, expect, test } from "vitest";
import { type Counting, describeCounting } from "../../test/support/counting.ts";
import { until } from "../../test/support/until.ts";
import { type EgressAnswer, type EgressRequest, egressFault } from "../egress/egress-message.ts";
import { createCalls } from "./calls.ts";

const REST_MS = 5_000;
const request = { kind: "token", url: "https://idp.example/", maxBytes: 1 } as const;
const answer = (status: number): EgressAnswer => ({
  status,
  headers: {},
  body: Buffer.alloc(0),
  elapsedMs: 1,
});

/** Calls over an egress in the test's hand: each request waits until the test ends it. */
function setup({ clock, valkey }: Counting) {
  const waiting: PromiseWithResolvers<EgressAnswer>[] = [];
  const keptFor: (string | undefined)[] = [];
  const changes: string[] = [];
  const egress = {
    send: (sent: EgressRequest) => {
      keptFor.push(sent.keptFor);
      const end = Promise.withResolvers<EgressAnswer>();
      waiting.push(end);
      return end.promise;
    },
  };
  const onHealthChanged = (profileId: string, status: string) => changes.push(`${profileId} ${status}`);
  const calls = createCalls({ egress, clock, valkey, onHealthChanged });
  /** Ends a request: with a status, or with a fault. */
  async function call(profileId: string, end: number | Error, about?: "code"): Promise<unknown> {
    const asked = waiting.length;
    const by = about === "code" ? calls.aboutCodes : calls;
    const sent = by.send(profileId, request).catch((error) => error);
    await Promise.race([sent, until(() => waiting.length > asked)]);
    const asking = waiting[asked];
    if (typeof end === "number") asking?.resolve(answer(end));
    else asking?.reject(end);
    return await sent;
  }
  async function fail(profileId: string, times: number): Promise<void> {
    for (let time = 0; time < times; time++) await call(profileId, egressFault("too_slow"));
  }
  const statusOf = (profileId: string) => calls.healthOf(profileId)?.status ?? "up";
  return { calls, clock, waiting, keptFor, changes, call, fail, statusOf };
}

describeCounting((begin) => {
  test("the provider's answer is returned, whatever its status", async () => {
    const { call } = setup(begin());
    for (const status of [200, 302, 404, 500]) expect(await call("a", status)).toEqual(answer(status));
  });

  test("a connection is kept for the profile by requests about codes, and by no others", async () => {
    const { call, keptFor } = setup(begin());
    await call("a", 200);
    await call("b", 200, "code");
    expect(keptFor).toEqual([undefined, "b"]);
  });

  test("a fault is thrown unchanged", async () => {
    const { call } = setup(begin());
    const fault = egressFault("tls_failed");
    expect(await call("a", fault)).toBe(fault);
  });

  describe("health", () => {
    test("is unknown for a profile that has never failed, which counts as healthy", async () => {
      const { calls, call } = setup(begin());
      expect(calls.healthOf("a")).toBeUndefined();
      await call("a", 200);
      expect(calls.healthOf("a")).toBeUndefined();
    });

    test("is degraded after one failure, and since then", async () => {
      const { calls, clock, call, fail } = setup(begin());
      await call("a", 200);
      clock.advance(1000);
      const failedAt = clock.now();
      await fail("a", 1);
      clock.advance(1000);
      await fail("a", 3);
      expect(calls.healthOf("a")).toEqual({ status: "degraded", since: failedAt });
    });

    test("is down after five failures in a row, and since then", async () => {
      const { calls, clock, fail, statusOf } = setup(begin());
      await fail("a", 4);
      expect(statusOf("a")).toBe("degraded");
      clock.advance(1000);
      await fail("a", 1);
      expect(calls.healthOf("a")).toEqual({ status: "down", since: clock.now() });
    });

    test("counts from zero after every success", async () => {
      const { call, fail, statusOf } = setup(begin());
      for (let round = 0; round < 3; round++) {
        await fail("a", 4);
        await call("a", 200);
        expect(statusOf("a")).toBe("up");
      }
    });

    test.each([500, 502, 503, 599])("counts status %d as a failure", async (status) => {
      const { call, statusOf } = setup(begin());
      for (let time = 0; time < 5; time++) await call("a", status);
      expect(statusOf("a")).toBe("down");
    });

    test.each([200, 204, 302, 400, 401, 403, 404, 429, 499])(
      "counts status %d as an answer",
      async (status) => {
        const { call, fail, statusOf } = setup(begin());
        await fail("a", 4);
        await call("a", status);
        expect(statusOf("a")).toBe("up");
      },
    );

    test("of one profile does not change that of another", async () => {
      const { calls, fail, call, statusOf } = setup(begin());
      await fail("a", 5);
      await fail("b", 1);
      await call("c", 200);
      expect([statusOf("a"), statusOf("b"), statusOf("c")]).toEqual(["down", "degraded", "up"]);
      expect(calls.count()).toEqual({ down: 1, degraded: 1 });
    });

    test("is forgotten by `forget`, and only for that profile", async () => {
      const { calls, fail, call } = setup(begin());
      await fail("a", 5);
      await fail("b", 5);
      await calls.forget("a");
      await calls.forget("never asked");
      expect(calls.healthOf("a")).toBeUndefined();
      expect(calls.count()).toEqual({ down: 1, degraded: 0 });
      expect(await call("a", 200)).toEqual(answer(200));
    });
  });

  describe("a profile that is down", () => {
    test("gets no request for five seconds", async () => {
      const { calls, clock, fail, waiting } = setup(begin());
      await fail("a", 5);
      clock.advance(REST_MS - 1);
      await expect(calls.send("a", request)).rejects.toMatchObject({ reason: "resting" });
      expect(waiting).toHaveLength(5);
    });

    test("does not rest longer because the wall clock was set back", async () => {
      const { clock, fail, call } = setup(begin());
      await fail("a", 5);
      clock.advance(REST_MS);
      clock.set(0);
      expect(await call("a", 200)).toEqual(answer(200));
    });

    test("does not rest longer because of a request meanwhile", async () => {
      const { calls, clock, fail, call } = setup(begin());
      await fail("a", 5);
      for (let second = 0; second < 4; second++) {
        clock.advance(1000);
        await calls.send("a", request).catch(() => {});
      }
      clock.advance(1000);
      expect(await call("a", 200)).toEqual(answer(200));
    });

    test("then gets one request, while the other profiles go on resting", async () => {
      const { calls, clock, fail, waiting } = setup(begin());
      await fail("a", 5);
      clock.advance(REST_MS);
      const probe = calls.send("a", request);
      for (let index = 0; index < 100; index++) {
        await expect(calls.send("a", request)).rejects.toMatchObject({ reason: "resting" });
      }
      expect(waiting).toHaveLength(6);
      waiting[5]?.resolve(answer(200));
      await probe;
    });

    test("is up, since now, if that request succeeds", async () => {
      const { calls, clock, fail, call } = setup(begin());
      await fail("a", 5);
      clock.advance(REST_MS);
      await call("a", 200);
      expect(calls.healthOf("a")).toEqual({ status: "up", since: clock.now() });
      expect(await call("a", 200)).toEqual(answer(200));
    });

    test("rests five seconds more if that request fails, and keeps the time since when it has been down", async () => {
      const { calls, clock, fail, call, waiting } = setup(begin());
      await fail("a", 5);
      const downAt = clock.now();
      clock.advance(REST_MS);
      await fail("a", 1);
      expect(waiting).toHaveLength(6);
      clock.advance(REST_MS - 1);
      await expect(calls.send("a", request)).rejects.toMatchObject({ reason: "resting" });
      expect(calls.healthOf("a")).toEqual({ status: "down", since: downAt });
      clock.advance(1);
      expect(await call("a", 200)).toEqual(answer(200));
    });

    test("rests from the start of that request, however long it takes", async () => {
      const { calls, clock, fail, waiting } = setup(begin());
      await fail("a", 5);
      clock.advance(REST_MS);
      const probe = calls.send("a", request).catch(() => {});
      await until(() => waiting.length === 6);
      clock.advance(REST_MS + 3000);
      waiting[5]?.reject(egressFault("too_slow"));
      await probe;
      expect(calls.toProbe()).toEqual(["a"]);
    });

    test("does not count a refused call during its rest as a failure", async () => {
      const { calls, clock, fail, call, statusOf } = setup(begin());
      await fail("a", 5);
      for (let index = 0; index < 20; index++) await calls.send("a", request).catch(() => {});
      clock.advance(REST_MS);
      await call("a", 200);
      await fail("a", 4);
      expect(statusOf("a")).toBe("degraded");
    });

    test("does not affect other profiles", async () => {
      const { fail, call } = setup(begin());
      await fail("a", 5);
      expect(await call("b", 200)).toEqual(answer(200));
    });
  });

  describe("the providers to probe", () => {
    test("have a provider that gave no answer, until it answers; a provider that is down, after each rest", async () => {
      const { calls, clock, fail, call } = setup(begin());
      await call("a", 200);
      expect(calls.toProbe()).toEqual([]);
      await fail("a", 1);
      expect(calls.toProbe()).toEqual(["a"]);
      await call("a", 200);
      expect(calls.toProbe()).toEqual([]);
      await fail("a", 5);
      expect(calls.toProbe()).toEqual([]);
      clock.advance(REST_MS);
      expect(calls.toProbe()).toEqual(["a"]);
      await calls.forget("a");
      expect(calls.toProbe()).toEqual([]);
    });

    test("silent ones come first, then the ones that rested longest", async () => {
      const { calls, clock, fail, call } = setup(begin());
      for (const profileId of ["a", "b", "c"]) {
        await fail(profileId, 5);
        clock.advance(10);
      }
      clock.advance(REST_MS);
      await fail("d", 1);
      expect(calls.toProbe()).toEqual(["d", "a", "b", "c"]);
      await call("a", 503);
      expect(calls.toProbe()).toEqual(["d", "b", "c"]);
      clock.advance(REST_MS);
      expect(calls.toProbe()).toEqual(["d", "b", "c", "a"]);
    });

    test("have no provider because of requests about codes", async () => {
      const { calls, call } = setup(begin());
      for (let n = 0; n < 4; n++) await call("a", egressFault("connect_failed"), "code");
      expect(calls.toProbe()).toEqual([]);
    });
  });

  describe("a request about a code", () => {
    const silence = () => Object.assign(egressFault("too_slow"), { wasSent: true });
    const RESTING = expect.objectContaining({ reason: "resting" });

    test.each([500, 503, 400, 401])(
      "shows nothing of the provider if the answer is %d, however often",
      async (status) => {
        const { call, statusOf, waiting } = setup(begin());
        for (let n = 0; n < 50; n++) await call("a", status, "code");
        expect(waiting).toHaveLength(50);
        expect(statusOf("a")).toBe(status < 500 ? "up" : "degraded");
        expect(await call("a", 200, "code")).toEqual(answer(200));
        expect(statusOf("a")).toBe("up");
      },
    );

    test("without an answer does not count against the provider, however often", async () => {
      const { call, statusOf, waiting } = setup(begin());
      for (let n = 0; n < 50; n++)
        expect(await call("a", silence(), "code")).toMatchObject({ reason: "too_slow" });
      expect(waiting).toHaveLength(50);
      expect(statusOf("a")).toBe("degraded");
      expect(await call("a", 200, "code")).toEqual(answer(200));
      expect(statusOf("a")).toBe("up");
    });

    test("counts against the provider when it could not be sent: five in a row", async () => {
      const { call, statusOf } = setup(begin());
      for (let n = 0; n < 5; n++) await call("a", egressFault("connect_failed"), "code");
      expect(statusOf("a")).toBe("down");
      expect(await call("a", 200, "code")).toEqual(RESTING);
      expect(await call("a", 200)).toEqual(RESTING);
    });

    test.each([500, silence()])(
      "wakes a provider that was down, because it was reached (%s); one more failure and it rests",
      async (end) => {
        const { clock, call, fail, statusOf } = setup(begin());
        await fail("a", 5);
        clock.advance(REST_MS);
        await call("a", end, "code");
        expect(statusOf("a")).toBe("degraded");
        expect(await call("a", egressFault("connect_failed"), "code")).toMatchObject({
          reason: "connect_failed",
        });
        expect(statusOf("a")).toBe("down");
      },
    );
  });
});
