import { type Admin, ApiError, type SignOnStatistics } from "@latchkey/sdk/admin";
import { describe, expect, test } from "vitest";
import { readFigures, STEP_MS } from "./figures.ts";
import { type Now, type Period, periodOf } from "./period.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.parse("2026-11-19T14:20Z");

type Asked = { step: keyof typeof STEP_MS; from?: string; to?: string; group?: string };

/** A service that answers as the real one does, at this instant. */
function service(nowMs: number, { most = 1000, keptMs = 1000 * DAY } = {}) {
  const asked: Asked[] = [];
  const statistics = async (query: Asked) => {
    asked.push(query);
    const stepMs = STEP_MS[query.step];
    const floor = (at: number) => Math.floor(at / stepMs) * stepMs;
    const toMs = query.to === undefined ? nowMs + 1 : Date.parse(query.to);
    const to = Math.ceil(toMs / stepMs) * stepMs;
    const from = floor(query.from === undefined ? toMs - 60 * stepMs : Date.parse(query.from));
    if (from >= to || (to - from) / stepMs > most) throw unfit();
    const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    const meta = { step: query.step, ...times, kept_from: new Date(floor(nowMs - keptMs)).toISOString() };
    return { data: [], meta } as SignOnStatistics;
  };
  return { admin: { signOns: { statistics } } as unknown as Pick<Admin, "signOns">, asked };
}

const unfit = () => new ApiError("statistics_range_unfit", "This range has too many steps.", { status: 400 });

const now: Now = { atMs: NOW, zone: "UTC" };
const period = (search: string): Period => periodOf(new URLSearchParams(search), now);
const read = (search: string, of: ReturnType<typeof service>, clockMs = NOW) =>
  readFigures(of.admin, period(search), "profile", clockMs);

describe("the figures up to now", () => {
  test.each([
    ["hour", HOUR],
    ["day", DAY],
    ["week", 7 * DAY],
    ["month", 30 * DAY],
  ])(
    "of the last %s are as long as that, beside as long a time before, in one request",
    async (range, ms) => {
      const of = service(NOW);
      const figures = await read(`range=${range}`, of);
      expect(figures.to - figures.from).toBe(ms);
      expect(figures).toMatchObject({ shiftMs: ms, hasBefore: true });
      expect(figures.to).toBeGreaterThan(NOW);
      expect(figures.doneTo).toBe(figures.to - STEP_MS[figures.step]);
      expect(of.asked).toHaveLength(1);
    },
  );

  test.each([3, 50, -50, -3])(
    "end at the service's time when the reader's clock is %d hours off",
    async (off) => {
      for (const range of ["hour", "day", "week", "month"]) {
        const right = await read(`range=${range}`, service(NOW));
        expect(await read(`range=${range}`, service(NOW), NOW + off * HOUR), range).toEqual(right);
      }
    },
  );

  test("have no time before, if the service does not keep it or has too much of it", async () => {
    expect((await read("range=day", service(NOW, { keptMs: 30 * HOUR }))).hasBefore).toBe(false);
    const large = await read("range=week", service(NOW, { most: 200 }));
    expect(large).toMatchObject({ hasBefore: false, shiftMs: 7 * DAY });
    expect(large.to - large.from).toBe(7 * DAY);
  });
});

describe("the figures of days", () => {
  test("end with the hour under way, if the last day is today", async () => {
    const figures = await read("from=2026-11-18&to=2026-11-19", service(NOW));
    expect([figures.from, figures.to, figures.doneTo]).toEqual([
      Date.parse("2026-11-18T00:00Z"),
      Date.parse("2026-11-19T15:00Z"),
      Date.parse("2026-11-19T14:00Z"),
    ]);
    expect(figures).toMatchObject({ shiftMs: 2 * DAY, hasBefore: true });
  });

  test("are complete, if the last day is over", async () => {
    const { to, doneTo } = await read("from=2026-11-17&to=2026-11-18", service(NOW));
    expect([to, doneTo]).toEqual([Date.parse("2026-11-19T00:00Z"), Date.parse("2026-11-19T00:00Z")]);
  });

  test("are read alone, if they and the time before are more than the service answers", async () => {
    const of = service(NOW, { most: 60 });
    const figures = await read("from=2026-10-01&to=2026-11-18", of);
    expect(figures).toMatchObject({ from: Date.parse("2026-10-01T00:00Z"), hasBefore: false });
    expect(of.asked).toHaveLength(2);
  });
});

test("any other fault is passed on", async () => {
  const statistics = () => Promise.reject(new Error("away"));
  const admin = { signOns: { statistics } } as unknown as Pick<Admin, "signOns">;
  for (const search of ["range=day", "from=2026-11-17&to=2026-11-18"])
    await expect(readFigures(admin, period(search), "key", NOW)).rejects.toThrow("away");
});
