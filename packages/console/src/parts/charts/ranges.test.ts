import type { Admin, SignOnStatistics } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { RANGES, type Range, readStatistics } from "./ranges.ts";

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const HOUR = 3_600_000;

/** A service whose clock is that far ahead of this machine's, and what it was asked. */
function serviceAhead(aheadMs: number) {
  let asked = 0;
  const nowMs = Date.now() + aheadMs;
  const statistics = async ({ step = "hour", from = "" }: { step?: keyof typeof STEP_MS; from?: string }) => {
    asked++;
    const stepMs = STEP_MS[step];
    const first = Math.floor(Date.parse(from) / stepMs) * stepMs;
    const last = Math.ceil((nowMs + 1) / stepMs) * stepMs;
    const meta = { step, from: new Date(first).toISOString(), to: new Date(last).toISOString() };
    return { data: [], meta } as unknown as SignOnStatistics;
  };
  const admin = { signOns: { statistics } } as unknown as Pick<Admin, "signOns">;
  return { admin, asked: () => asked };
}

test.each(Object.keys(RANGES) as Range[])(
  "the last %s is as long as it says also where this machine's clock is behind",
  async (range) => {
    const { ms } = RANGES[range];
    const { admin } = serviceAhead(ms / 2);
    const { meta } = await readStatistics(admin, range);
    expect(Date.parse(meta.to) - Date.parse(meta.from)).toBe(ms);
  },
);

test("24 hours have the same length with a clock that is an hour behind", async () => {
  const { meta } = await readStatistics(serviceAhead(HOUR).admin, "day");
  expect(Date.parse(meta.to) - Date.parse(meta.from)).toBe(24 * HOUR);
});

test("with a correct clock one request is enough", async () => {
  for (const range of Object.keys(RANGES) as Range[]) {
    const { admin, asked } = serviceAhead(0);
    await readStatistics(admin, range);
    expect(asked(), range).toBe(1);
  }
});
