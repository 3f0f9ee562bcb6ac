import { createScript } from "../counters/script.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { type OwnUseLog, USE_LOG_SECONDS, type UseLog, type Uses } from "./use-log.ts";

type Deps = { valkey: Pick<Valkey, "run" | "isAway">; clock: Clock; own: OwnUseLog };

/** What a store's keys asked of this instance in one second of its monotonic clock. */
type Second = { second: number; asked: Map<string, number> };

/** More keys of a store than this are not written down for a minute, so that a store's hour has a ceiling. */
const MAX_KEYS = 1000;
const KEYS_AT_A_TIME = 100;
const STORES_AT_A_TIME = 50;
const MINUTES = USE_LOG_SECONDS / 60;

/**
 * The log of use of all instances. Each counts for itself and adds to Valkey once a second, so that no request has to; there
 * a store's minute is one hash, for each key the seconds in which it asked and how often. What is added while Valkey is away
 * stays in this instance's own log, which then also answers.
 */
export function createSharedUseLog({ valkey, clock, own }: Deps): UseLog {
  const current = new Map<string, Second>();
  /** How many seconds the time of day is ahead of our monotonic clock: instances have only the former in common. */
  const aheadSeconds = () => Math.round((clock.now() - clock.monotonicMs()) / 1000);

  function add(storeId: string, keyId: string, second: number, asked: number): void {
    const known = current.get(storeId);
    const isSame = known?.second === second;
    const now = isSame ? known : { second, asked: new Map<string, number>() };
    now.asked.set(keyId, (now.asked.get(keyId) ?? 0) + asked);
    if (isSame) return;
    current.set(storeId, now);
    if (known) void send(storeId, known);
  }

  async function send(storeId: string, { second, asked }: Second): Promise<void> {
    for (const [keyId, count] of asked) own.add(storeId, keyId, second, count);
    const entries = [...asked].slice(0, MAX_KEYS);
    for (let from = 0; from < entries.length; from += KEYS_AT_A_TIME) {
      const some = entries.slice(from, from + KEYS_AT_A_TIME);
      // Not tried again: it may have been added, and would then count twice.
      await valkey.run(ADD, storeId, [second + aheadSeconds(), some.length, ...some.flat()]);
    }
  }

  async function* readShared(storeId: string): AsyncGenerator<Uses> {
    const ahead = aheadSeconds();
    const thisMinute = Math.floor(clock.now() / 60_000);
    // The newest first: should Valkey go away meanwhile, the rest is what is missing.
    for (let minute = thisMinute; minute >= thisMinute - MINUTES; minute--) {
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
    read: (storeId) => (valkey.isAway() ? own.read(storeId) : readShared(storeId)),
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
  for (const [at, keyId] of keys.entries()) {
    const pairs = counts[at] as number[];
    for (let pair = 0; pair < pairs.length; pair += 2) {
      keyIds.push(keyId);
      seconds.push(firstSecond + (pairs[pair] as number));
      asked.push(pairs[pair + 1] as number);
    }
  }
  return { keyIds, seconds, asked };
}

/** An item is: the second, how many keys, and each key with what it asked. Three bytes for a second: which, and how often. */
const ADD = createScript(`
local answers = {}
local at = 3
while at <= #ARGV do
  local second, keys = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local name = slot .. ':use:' .. math.floor(second / 60)
  local ofMinute = second % 60
  for key = at + 2, at + 2 * keys, 2 do
    local asked = tonumber(ARGV[key + 1])
    local kept = redis.call('HGET', name, ARGV[key])
    if kept or redis.call('HLEN', name) < ${MAX_KEYS} then
      local others = ''
      for pair = 1, #(kept or ''), 3 do
        local known, count = struct.unpack('>BH', kept, pair)
        if known == ofMinute then asked = asked + count else others = others .. string.sub(kept, pair, pair + 2) end
      end
      redis.call('HSET', name, ARGV[key], others .. struct.pack('>BH', ofMinute, math.min(asked, 65535)))
    end
  end
  redis.call('EXPIRE', name, ${USE_LOG_SECONDS + 120})
  answers[#answers + 1] = 1
  at = at + 2 + 2 * keys
end
return answers`);

/** An item is: the minute, and where to go on. The answer: where to go on after it, keys, and for each its seconds and counts. */
const READ = createScript(`
local answers = {}
for at = 3, #ARGV, 2 do
  local found = redis.call('HSCAN', slot .. ':use:' .. ARGV[at], ARGV[at + 1], 'COUNT', 50)
  local keys, counts = {}, {}
  for entry = 1, #found[2], 2 do
    local packed, pairs = found[2][entry + 1], {}
    for pair = 1, #packed, 3 do
      pairs[#pairs + 1], pairs[#pairs + 2] = struct.unpack('>BH', packed, pair)
    end
    keys[#keys + 1] = found[2][entry]
    counts[#counts + 1] = pairs
  end
  answers[#answers + 1] = { found[1], keys, counts }
end
return answers`);
