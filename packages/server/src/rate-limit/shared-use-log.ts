import { createScript } from "../counters/script.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { type OwnUseLog, USE_LOG_SECONDS, type UseLog, type Uses } from "./use-log.ts";

type Deps = { valkey: Pick<Valkey, "run" | "isAway">; clock: Clock; own: OwnUseLog };

/** The requests of a store's keys at this instance, in one second of its monotonic clock. */
type Second = { second: number; byKey: Map<string, { asked: number; refused: number }> };

/** The most keys of a store that are stored per minute, so that an hour has a ceiling. */
const MAX_KEYS = 1000;
const KEYS_AT_A_TIME = 100;
const STORES_AT_A_TIME = 50;
const MINUTES = USE_LOG_SECONDS / 60;

/**
 * The log of use of all instances. Each counts for itself and adds to Valkey once a second, so requests do not wait. In
 * Valkey a minute of a store is one hash: for each key its seconds and counts. Additions that Valkey misses stay in
 * this instance's own log, which then also answers.
 */
export function createSharedUseLog({ valkey, clock, own }: Deps): UseLog {
  const current = new Map<string, Second>();
  /** By how many seconds the time of day is ahead of the monotonic clock. Instances share only the time of day. */
  const aheadSeconds = () => Math.round((clock.now() - clock.monotonicMs()) / 1000);

  function add(storeId: string, keyId: string, second: number, asked: number, refused = 0): void {
    const known = current.get(storeId);
    const isSame = known?.second === second;
    const now: Second = isSame ? known : { second, byKey: new Map() };
    const before = now.byKey.get(keyId);
    now.byKey.set(keyId, { asked: (before?.asked ?? 0) + asked, refused: (before?.refused ?? 0) + refused });
    if (isSame) return;
    current.set(storeId, now);
    if (known) void send(storeId, known);
  }

  async function send(storeId: string, { second, byKey }: Second): Promise<void> {
    for (const [keyId, { asked, refused }] of byKey) own.add(storeId, keyId, second, asked, refused);
    const entries = [...byKey]
      .slice(0, MAX_KEYS)
      .map(([keyId, { asked, refused }]) => [keyId, asked, refused] as const);
    for (let from = 0; from < entries.length; from += KEYS_AT_A_TIME) {
      const some = entries.slice(from, from + KEYS_AT_A_TIME);
      // Not repeated, because it may have been added and would count twice.
      await valkey.run(ADD, storeId, [second + aheadSeconds(), some.length, ...some.flat()]);
    }
  }

  async function* readShared(storeId: string, sinceSecond: number): AsyncGenerator<Uses> {
    const ahead = aheadSeconds();
    // One minute more: another instance rounds by itself, so it may be a second ahead, in the next minute.
    const lastSecond = Math.floor(clock.monotonicMs() / 1000) + ahead + 1;
    const lastMinute = Math.floor(lastSecond / 60);
    const firstMinute = Math.max(lastMinute - MINUTES, Math.floor((sinceSecond + ahead) / 60));
    // Newest first, so that the oldest is missing if Valkey stops answering.
    for (let minute = lastMinute; minute >= firstMinute; minute--) {
      let cursor = "0";
      do {
        const answer = await valkey.run(READ, storeId, [minute, cursor]);
        if (answer === undefined) return;
        const [next, keyIds, counts] = answer as [string, string[], number[][]];
        yield toUses(keyIds, counts, minute * 60 - ahead);
        cursor = next;
      } while (cursor !== "0");
    }
  }

  return {
    add,
    read: (storeId, sinceSecond = 0) =>
      valkey.isAway() ? own.read(storeId, sinceSecond) : readShared(storeId, sinceSecond),
    async flush(storeId) {
      const thisSecond = Math.floor(clock.monotonicMs() / 1000);
      const isOver = ([, { second }]: [string, Second]) => second < thisSecond;
      const stores = storeId === undefined ? [...current].filter(isOver).map(([id]) => id) : [storeId];
      for (let from = 0; from < stores.length; from += STORES_AT_A_TIME) {
        const some = stores.slice(from, from + STORES_AT_A_TIME).map((id) => {
          const now = current.get(id);
          current.delete(id);
          return now && send(id, now);
        });
        await Promise.all(some);
      }
    },
    bytes: own.bytes,
  };
}

function toUses(keys: readonly string[], counts: readonly number[][], firstSecond: number): Uses {
  const keyIds: string[] = [];
  const seconds: number[] = [];
  const asked: number[] = [];
  const refused: number[] = [];
  for (const [at, keyId] of keys.entries()) {
    const figures = counts[at] as number[];
    for (let first = 0; first < figures.length; first += 3) {
      keyIds.push(keyId);
      seconds.push(firstSecond + (figures[first] as number));
      asked.push(figures[first + 1] as number);
      refused.push(figures[first + 2] as number);
    }
  }
  return { keyIds, seconds, asked, refused };
}

/** An item: second, number of keys, each key with requests and refusals. Five bytes per second and key. */
const ADD = createScript(`
local answers = {}
local at = 3
while at <= #ARGV do
  local second, keys = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local name = slot .. ':use:' .. math.floor(second / 60)
  local ofMinute = second % 60
  for key = at + 2, at + 3 * keys, 3 do
    local asked, refused = tonumber(ARGV[key + 1]), tonumber(ARGV[key + 2])
    local kept = redis.call('HGET', name, ARGV[key])
    if kept or redis.call('HLEN', name) < ${MAX_KEYS} then
      local others = ''
      for first = 1, #(kept or ''), 5 do
        local known, knownAsked, knownRefused = struct.unpack('>BHH', kept, first)
        if known == ofMinute then
          asked, refused = asked + knownAsked, refused + knownRefused
        else
          others = others .. string.sub(kept, first, first + 4)
        end
      end
      local figures = struct.pack('>BHH', ofMinute, math.min(asked, 65535), math.min(refused, 65535))
      redis.call('HSET', name, ARGV[key], others .. figures)
    end
  end
  redis.call('EXPIRE', name, ${USE_LOG_SECONDS + 120})
  answers[#answers + 1] = 1
  at = at + 2 + 3 * keys
end
return answers`);

/** An item: minute and position. The answer: the next position and keys, each with its seconds and both counts. */
const READ = createScript(`
local answers = {}
for at = 3, #ARGV, 2 do
  local found = redis.call('HSCAN', slot .. ':use:' .. ARGV[at], ARGV[at + 1], 'COUNT', 50)
  local keys, counts = {}, {}
  for entry = 1, #found[2], 2 do
    local packed, figures = found[2][entry + 1], {}
    for first = 1, #packed, 5 do
      local second, asked, refused = struct.unpack('>BHH', packed, first)
      local last = #figures
      figures[last + 1], figures[last + 2], figures[last + 3] = second, asked, refused
    end
    keys[#keys + 1] = found[2][entry]
    counts[#counts + 1] = figures
  end
  answers[#answers + 1] = { found[1], keys, counts }
end
return answers`);
