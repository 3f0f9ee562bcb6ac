import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../lib/log.ts";
import { BEAT, GONE_AFTER_MS, INSTANCES, LEAVE } from "./beat.ts";
import { type Client, createClient } from "./client.ts";
import type { Script } from "./script.ts";

/**
 * What several instances count together, in Valkey, Redis, or any server that speaks their protocol. It is either there or
 * away. While it is away nothing is sent and nobody waits: whoever counts decides alone. One call that is not answered in
 * time, or a lost connection, and it is away; it is there again when a new connection has answered.
 *
 * All calls of one turn of the event loop travel together: one script call for each script and slot, in one write.
 */
export type Valkey = {
  /**
   * What the script answers to this item; `undefined` when Valkey is away or does not answer in time. What was given up here
   * is not carried out there either, once its time is over: a script begins by looking at the server's clock.
   */
  run(script: Script, slot: string, item: readonly (string | number)[]): Promise<unknown>;
  isAway(): boolean;
  /** The policy by which it throws away what we count; undefined: it keeps all of it, or does not say. */
  eviction(): string | undefined;
  /** How many instances there are, this one included; while Valkey is away, how many there were. */
  instances(): number;
  /** Since the start: how often it has gone away, how many calls it has answered, and how many were decided without it. */
  counts(): { losses: number; answered: number; alone: number };
  /** Told of each round trip how long it took. */
  onRoundTrip(listener: (elapsedMs: number) => void): void;
  /** Called whenever it is there again. */
  onReturn(listener: () => void): void;
  close(): Promise<void>;
};

type Options = {
  urls: readonly string[];
  log: Log;
  /** How many other instances there are, as somebody else knows: asked while Valkey has never answered. */
  countOthers?: () => Promise<number>;
  /** How long a caller waits for an answer. */
  answerWithinMs?: number;
  /** Stands in for the server's time, in which scripts count: tests have it in hand. */
  nowMs?: () => number;
};

/** What was asked in one turn of one script and slot. */
type Batch = { script: Script; slot: string; calls: Call[] };
type SentBatch = Batch & { sentMs: number };
type Call = { item: readonly (string | number)[]; resolve(answer: unknown): void };
/** The server's clock shows `aheadMs` more than our monotonic one. */
type Line = {
  client: Client;
  aheadMs: number;
  /** The oldest first. */
  inFlight: Set<SentBatch>;
  timer: NodeJS.Timeout | undefined;
};

const ANSWER_WITHIN_MS = 50;
/** A connection that takes longer is given up, and the next one tried: a lost packet is sent again only after a second. */
const CONNECT_WITHIN_MS = 500;
const PROBE_EVERY_MS = 200;
const BEAT_EVERY_MS = 1000;
/** A script that takes longer keeps all other stores waiting. */
const CALLS_PER_SCRIPT = 200;

const NEVER_TOO_LATE = String(Number.MAX_SAFE_INTEGER);

/** Resolves when the first try to connect is over, whether it worked or not. */
export async function openValkey(options: Options): Promise<Valkey> {
  const { urls, log, countOthers, answerWithinMs = ANSWER_WITHIN_MS, nowMs } = options;
  // Who waits longer for an answer also waits longer for the connection.
  const connectWithinMs = Math.max(CONNECT_WITHIN_MS, answerWithinMs);
  const id = randomUUID();
  let line: Line | undefined;
  let instances = 1;
  /** When there were last as many. */
  let manySinceMs = Number.NEGATIVE_INFINITY;
  let hasEverAnswered = false;
  let eviction: string | undefined;
  let othersCountedMs = Number.NEGATIVE_INFINITY;
  const counts = { losses: 0, answered: 0, alone: 0 };
  let tellRoundTrip = (_elapsedMs: number): void => {};
  let tellReturn = (): void => {};
  let isClosed = false;
  let hasFailed = false;
  let probe: NodeJS.Timeout | undefined;
  let turn: Batch[] = [];
  /** The batches of this turn that have room, by script and slot. */
  const openBatches = new Map<string, Batch>();

  async function beat(client: Client): Promise<number> {
    const sentMs = performance.now();
    const answer = await client.evaluate(BEAT, INSTANCES, [NEVER_TOO_LATE, "", id]);
    const [serverMs, count] = answer as [number, number];
    hasEverAnswered = true;
    // Fewer is believed when it has stood for a while: after a flush each is alone until the others have had their beat.
    if (count >= instances || sentMs - manySinceMs > GONE_AFTER_MS) {
      instances = count;
      manySinceMs = sentMs;
    }
    return serverMs - sentMs;
  }

  /** Asked with every beat: whoever runs the server may set it while we run. Hosted ones may forbid to ask. */
  async function readEviction(client: Client): Promise<void> {
    eviction = await answered(client.findEviction(), answerWithinMs).catch(() => eviction);
  }

  /** An instance that starts while Valkey is away has never seen the others, and would give all of what is shared. */
  async function countWithoutValkey(): Promise<void> {
    const atMs = performance.now();
    if (!countOthers || hasEverAnswered || atMs - othersCountedMs < BEAT_EVERY_MS) return;
    othersCountedMs = atMs;
    const others = await countOthers().catch(() => undefined);
    if (others !== undefined && !hasEverAnswered) instances = others + 1;
  }

  /** The server is there when a new connection has answered as quickly as a caller wants it to. */
  async function connect(): Promise<void> {
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const onLost = (cause: Error) => {
      reject(cause);
      if (mine) lose(mine, cause);
    };
    let mine: Line | undefined;
    const client = createClient(urls, connectWithinMs, onLost);
    try {
      await answered(Promise.race([client.connect(), lost]), connectWithinMs);
      // After an outage, as after a flush: the first to be back would else count itself alone, and the server may go away again.
      manySinceMs = performance.now();
      const aheadMs = await answered(Promise.race([beat(client), lost]), answerWithinMs);
      if (isClosed) return client.destroy();
      mine = { client, aheadMs, inFlight: new Set(), timer: undefined };
      line = mine;
      log.info({ event: "valkey_connected", instances });
      hasFailed = false;
      tellReturn();
      await readEviction(client);
    } catch (error) {
      client.destroy();
      // Once, and not at every try.
      if (!hasFailed) log.warn({ event: "valkey_away", cause: (error as Error).message });
      hasFailed = true;
      await countWithoutValkey();
      connectLater();
    }
  }

  function connectLater(): void {
    if (!isClosed) probe = setTimeout(connect, PROBE_EVERY_MS).unref();
  }

  function lose(mine: Line, cause: Error): void {
    mine.client.destroy();
    clearTimeout(mine.timer);
    for (const { calls } of mine.inFlight) giveUp(calls);
    mine.inFlight.clear();
    if (line !== mine) return;
    line = undefined;
    if (isClosed) return;
    counts.losses++;
    log.warn({ event: "valkey_away", cause: cause.message });
    hasFailed = true;
    connectLater();
  }

  function run(script: Script, slot: string, item: readonly (string | number)[]): Promise<unknown> {
    if (!line) {
      counts.alone++;
      return Promise.resolve(undefined);
    }
    // Sent after all sockets that are readable now were read.
    if (turn.length === 0) setImmediate(send);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    batchFor(script, slot).calls.push({ item, resolve });
    return promise;
  }

  function giveUp(calls: readonly Call[]): void {
    counts.alone += calls.length;
    for (const { resolve } of calls) resolve(undefined);
  }

  function batchFor(script: Script, slot: string): Batch {
    const name = script.sha + slot;
    const open = openBatches.get(name);
    if (open && open.calls.length < CALLS_PER_SCRIPT) return open;
    const batch = { script, slot, calls: [] };
    turn.push(batch);
    openBatches.set(name, batch);
    return batch;
  }

  function send(): void {
    const batches = turn;
    turn = [];
    openBatches.clear();
    const mine = line;
    if (!mine) {
      for (const { calls } of batches) giveUp(calls);
      return;
    }
    const sentMs = performance.now();
    const untilMs = (sentMs + mine.aheadMs + answerWithinMs).toFixed(0);
    mine.client.together(() => {
      for (const batch of batches) ask(mine, { ...batch, sentMs }, untilMs);
    });
    watch(mine);
  }

  /** One timer, for what has been under way the longest: one for each turn would cost more than the turn. */
  function watch(mine: Line): void {
    const [oldest] = mine.inFlight;
    if (mine.timer || !oldest) return;
    const look = () => {
      mine.timer = undefined;
      const [still] = mine.inFlight;
      if (still && performance.now() - still.sentMs >= answerWithinMs) lose(mine, notInTime(answerWithinMs));
      else watch(mine);
    };
    // A process that stood still since may be late for it already, and Node warns of a time that has passed.
    const waitMs = Math.max(0, oldest.sentMs + answerWithinMs - performance.now());
    // Looks after the sockets were read once more: the answer may be there, while this process itself had to wait.
    mine.timer = setTimeout(() => setImmediate(look), waitMs).unref();
  }

  function ask(mine: Line, batch: SentBatch, untilMs: string): void {
    const args: (string | number)[] = [untilMs, nowMs ? nowMs() : ""];
    for (const { item } of batch.calls) for (const part of item) args.push(part);
    mine.inFlight.add(batch);
    mine.client.evaluate(batch.script, batch.slot, args).then(
      (answers) => {
        // What was given up is counted already.
        if (!mine.inFlight.delete(batch)) return;
        tellRoundTrip(performance.now() - batch.sentMs);
        // It came too late there, by the server's clock.
        if (!Array.isArray(answers)) return giveUp(batch.calls);
        counts.answered += batch.calls.length;
        for (const [at, { resolve }] of batch.calls.entries()) resolve(answers[at]);
      },
      (cause) => lose(mine, cause),
    );
  }

  const beats = setInterval(() => {
    const mine = line;
    if (!mine) return;
    answered(beat(mine.client), answerWithinMs).then(
      (aheadMs) => {
        mine.aheadMs = aheadMs;
        return readEviction(mine.client);
      },
      (cause) => lose(mine, cause),
    );
  }, BEAT_EVERY_MS);
  beats.unref();

  await connect();
  return {
    run,
    isAway: () => line === undefined,
    eviction: () => eviction,
    instances: () => instances,
    counts: () => counts,
    onRoundTrip(listener) {
      tellRoundTrip = listener;
    },
    onReturn(listener) {
      tellReturn = listener;
    },
    async close() {
      isClosed = true;
      clearTimeout(probe);
      clearInterval(beats);
      const mine = line;
      if (!mine) return;
      // The others would else count with us until our last beat is old.
      const left = mine.client.evaluate(LEAVE, INSTANCES, [NEVER_TOO_LATE, "", id]).catch(() => {});
      await Promise.race([left, sleep(answerWithinMs, undefined, { ref: false })]);
      lose(mine, new Error("closed"));
    },
  };
}

const notInTime = (ms: number): Error => new Error(`no answer within ${ms} ms`);

/** Rejects when there is no answer in time, after the sockets were read once more. */
function answered<T>(work: Promise<T>, withinMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => reject(notInTime(withinMs))), withinMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
