import { createStore } from "../packages/server/src/create-store.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { newId } from "../packages/server/src/lib/ids.ts";
import { addUpTallies } from "../packages/server/src/sign-on-records/add-up-statistics.ts";
import { readStatistics } from "../packages/server/src/sign-on-records/read-statistics.ts";
import { Recorder } from "../packages/server/src/sign-on-records/recorder.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";
import type { Storage } from "../packages/server/src/storage/storage.ts";
import { openPlaces } from "./places.ts";

/**
 * What it takes to write records with what they change in the figures, to add that up, and to ask for a thousand steps of each kind.
 * `npm run bench:statistics [records]`.
 */
const RECORDS = Number(process.argv[2] ?? 300_000);
const PROFILES = 5;
const DAY_MS = 86_400_000;
const QUESTIONS = 20;
const clock = steadyClock();

const places = await openPlaces();
try {
  for (const engine of places.engines) {
    const storage = await openStorage({ clock }, await places.newDatabase(engine));
    await measure(storage).finally(storage.close);
  }
} finally {
  await places.remove();
}

async function measure(storage: Storage): Promise<void> {
  const { store } = await createStore({ storage, clock }, { name: "Bench", rate_limit: 1 });
  const profiles = Array.from({ length: PROFILES }, newId);
  const now = clock.now();
  const say = (text: string) => console.log(`${storage.engine}: ${text}`);
  const recorder = new Recorder({ storage, clock });
  let [written, addedUp] = [0, 0];
  for (let done = 0; done < RECORDS; done += 10_000) {
    for (let at = done; at < Math.min(RECORDS, done + 10_000); at++) recorder.note(record(at));
    written += await seconds(() => recorder.flush());
    addedUp += await seconds(async () => {
      while (await addUpTallies({ storage, clock }));
    });
  }
  say(`${perSecond(RECORDS, written)} records a second written, with what they change in the figures`);
  say(`${perSecond(RECORDS, addedUp)} records a second added up, in the background`);
  const answers = [
    ["1,000 days", { step: "day", from: now - 999 * DAY_MS }],
    ["1,000 hours", { step: "hour", from: now - 999 * 3_600_000 }],
    ["60 minutes", { step: "minute", from: now - 59 * 60_000 }],
  ] as const;
  for (const [range, query] of answers) {
    const took: number[] = [];
    let figures = 0;
    for (let asked = 0; asked < QUESTIONS; asked++)
      took.push(
        await seconds(async () => {
          figures = (await readStatistics({ storage, clock }, store.id, query)).data.length;
        }),
      );
    const median = took.toSorted((a, b) => a - b)[QUESTIONS / 2] as number;
    say(`${range}, ${figures} figures: ${(median * 1000).toFixed(1)} ms`);
  }

  /** First one for each day and profile, so that the range is full; the others in the last minutes, as at a busy store. */
  function record(at: number) {
    const profileId = profiles[at % PROFILES] as string;
    const day = Math.floor(at / PROFILES);
    const ago = day < 1000 ? day * DAY_MS : (at % 1000) * 180;
    const outcome = at % 50 === 0 ? "failed" : "code_issued";
    return {
      id: newId(),
      storeId: store.id,
      realmId: "01890000-0000-7000-8000-00000000000a",
      profileId,
      profileName: "Company login",
      reference: "AAAA-BBBB",
      startedAt: now - ago,
      outcome,
      reason: outcome === "failed" ? "id_token.aud" : null,
      error: null,
      checks: [{ check: "id_token.signature", passed: true }],
      timings: { discovery: 0, wait: 0, token: 40 + (at % 90), identify: 3 + (at % 5), write: 1 },
    } as const;
  }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}

function perSecond(count: number, within: number): string {
  return Math.round(count / within).toLocaleString("en");
}
