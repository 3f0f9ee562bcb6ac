import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../lib/log.ts";
import { BEAT, GONE_AFTER_MS, INSTANCES, LEAVE } from "./beat.ts";
import { type Batch, TurnOfCalls } from "./calls.ts";
import { createClient, type ValkeyClient } from "./client.ts";
import type { Script } from "./script.ts";

/**
 * Counters that several instances share, in Valkey, Redis, or any server that speaks their protocol. The server is
 * either there or away. While it is away nothing is sent and no caller waits: each instance decides alone. A call that
 * is not answered in time, or a lost connection, makes it away; an answer on a new connection makes it there again.
 *
 * All calls of one turn of the event loop travel together: one script call for each script and slot, in one write.
 */
export type Valkey = {
  /**
   * The script's answer to this item; `undefined` when Valkey does not answer in time. The server does not execute a
   * call after its time is over: a script first compares the server's clock.
   */
  run(script: Script, slot: string, item: readonly (string | number)[]): Promise<unknown>;
  isAway(): boolean;
  /** The eviction policy of the server; undefined: it keeps all counters, or does not say. */
  eviction(): string | undefined;
  /** The number of instances, this one included; while Valkey is away, the last number. */
  instances(): number;
  /** Since the start: times away, calls answered, and calls decided without it. */
  counts(): { losses: number; answered: number; alone: number };
  /** Calls the listener with the time of each round trip. */
  onRoundTrip(listener: (elapsedMs: number) => void): void;
  /** Calls the listener whenever Valkey is there again. */
  onReturn(listener: () => void): void;
  close(): Promise<void>;
};

type Options = {
  urls: readonly string[];
  log: Log;
  /** The number of other instances from another source, used while Valkey has never answered. */
  countOthers?: () => Promise<number>;
  /** How long a caller waits for an answer. */
  answerWithinMs?: number;
  /** Replaces the server's time, by which scripts count, in tests. */
  nowMs?: () => number;
};

type SentBatch = Batch & { sentMs: number };
/** `aheadMs`: the server's clock minus this process's monotonic clock. */
type ValkeyLink = {
  client: ValkeyClient;
  aheadMs: number;
  /** The oldest first. */
  inFlight: Set<SentBatch>;
  timer: NodeJS.Timeout | undefined;
};

const ANSWER_WITHIN_MS = 50;
/** A connection that takes longer is given up; a lost packet is sent again only after a second. */
const CONNECT_WITHIN_MS = 500;
const PROBE_EVERY_MS = 200;
const BEAT_EVERY_MS = 1000;
const NEVER_TOO_LATE = String(Number.MAX_SAFE_INTEGER);

/** Resolves when the first try to connect is over, whether it worked or not. */
export async function openValkey(options: Options): Promise<Valkey> {
  const counters = new SharedCounters(options);
  await counters.connect();
  return {
    run: (script, slot, item) => counters.run(script, slot, item),
    isAway: () => counters.isAway,
    eviction: () => counters.eviction,
    instances: () => counters.instances,
    counts: () => counters.counts,
    onRoundTrip(listener) {
      counters.onRoundTrip = listener;
    },
    onReturn(listener) {
      counters.onReturn = listener;
    },
    close: () => counters.close(),
  };
}

class SharedCounters {
  instances = 1;
  eviction: string | undefined;
  readonly counts = { losses: 0, answered: 0, alone: 0 };
  onRoundTrip = (_elapsedMs: number): void => {};
  onReturn = (): void => {};
  readonly #options: Options;
  readonly #answerWithinMs: number;
  /** The name of this instance. */
  readonly #id = randomUUID();
  readonly #beats: NodeJS.Timeout;
  #link: ValkeyLink | undefined;
  /** When the count was last at least this high. */
  #manySinceMs = Number.NEGATIVE_INFINITY;
  #hasEverAnswered = false;
  #othersCountedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #hasFailed = false;
  #probe: NodeJS.Timeout | undefined;
  readonly #turn = new TurnOfCalls((batches) => this.#send(batches));

  constructor(options: Options) {
    this.#options = options;
    this.#answerWithinMs = options.answerWithinMs ?? ANSWER_WITHIN_MS;
    this.#beats = setInterval(() => void this.#beatAndRead(), BEAT_EVERY_MS).unref();
  }

  get isAway(): boolean {
    return this.#link === undefined;
  }

  run(script: Script, slot: string, item: readonly (string | number)[]): Promise<unknown> {
    if (!this.#link) {
      this.counts.alone++;
      return Promise.resolve(undefined);
    }
    return this.#turn.add(script, slot, item);
  }

  /** The server is there when a new connection has answered as quickly as a caller wants an answer. */
  async connect(): Promise<void> {
    const { urls, log } = this.#options;
    // A caller that waits longer for an answer also waits longer for the connection.
    const connectWithinMs = Math.max(CONNECT_WITHIN_MS, this.#answerWithinMs);
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => {});
    let link: ValkeyLink | undefined;
    const client = createClient(urls, connectWithinMs, (cause) => {
      reject(cause);
      if (link) this.#lose(link, cause);
    });
    try {
      await answered(Promise.race([client.connect(), lost]), connectWithinMs);
      // After an outage or a flush the first instance to be back counts itself alone, for its first beats.
      this.#manySinceMs = performance.now();
      const aheadMs = await answered(Promise.race([this.#beat(client), lost]), this.#answerWithinMs);
      if (this.#isClosed) return client.destroy();
      link = { client, aheadMs, inFlight: new Set(), timer: undefined };
      this.#link = link;
      log.info({ event: "valkey_connected", instances: this.instances });
      this.#hasFailed = false;
      this.onReturn();
      await this.#readEviction(client);
    } catch (error) {
      client.destroy();
      // Once, and not at every try.
      if (!this.#hasFailed) log.warn({ event: "valkey_away", cause: (error as Error).message });
      this.#hasFailed = true;
      await this.#countWithoutValkey();
      this.#connectLater();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#probe);
    clearInterval(this.#beats);
    const link = this.#link;
    if (!link) return;
    // The other instances would count this one until its last beat is old.
    const left = link.client.evaluate(LEAVE, INSTANCES, [NEVER_TOO_LATE, "", this.#id]).catch(() => {});
    await Promise.race([left, sleep(this.#answerWithinMs, undefined, { ref: false })]);
    this.#lose(link, new Error("closed"));
  }

  /** Counts the instances. Returns the server's clock minus this process's. */
  async #beat(client: ValkeyClient): Promise<number> {
    const sentMs = performance.now();
    const answer = await client.evaluate(BEAT, INSTANCES, [NEVER_TOO_LATE, "", this.#id]);
    const [serverMs, count] = answer as [number, number];
    this.#hasEverAnswered = true;
    // A smaller number counts later: after a flush each instance is alone until the others have had their beat.
    if (count >= this.instances || sentMs - this.#manySinceMs > GONE_AFTER_MS) {
      this.instances = count;
      this.#manySinceMs = sentMs;
    }
    return serverMs - sentMs;
  }

  async #beatAndRead(): Promise<void> {
    const link = this.#link;
    if (!link) return;
    try {
      link.aheadMs = await answered(this.#beat(link.client), this.#answerWithinMs);
      await this.#readEviction(link.client);
    } catch (cause) {
      this.#lose(link, cause as Error);
    }
  }

  /** With every beat, because an operator may change the policy. Hosted servers may forbid the question. */
  async #readEviction(client: ValkeyClient): Promise<void> {
    this.eviction = await answered(client.findEviction(), this.#answerWithinMs).catch(() => this.eviction);
  }

  /** An instance that starts while Valkey is away would give out all of a shared limit alone. */
  async #countWithoutValkey(): Promise<void> {
    const { countOthers } = this.#options;
    const atMs = performance.now();
    if (!countOthers || this.#hasEverAnswered || atMs - this.#othersCountedMs < BEAT_EVERY_MS) return;
    this.#othersCountedMs = atMs;
    const others = await countOthers().catch(() => undefined);
    if (others !== undefined && !this.#hasEverAnswered) this.instances = others + 1;
  }

  #connectLater(): void {
    if (!this.#isClosed) this.#probe = setTimeout(() => this.connect(), PROBE_EVERY_MS).unref();
  }

  #lose(link: ValkeyLink, cause: Error): void {
    link.client.destroy();
    clearTimeout(link.timer);
    for (const { calls } of link.inFlight) this.#giveUp(calls);
    link.inFlight.clear();
    if (this.#link !== link) return;
    this.#link = undefined;
    if (this.#isClosed) return;
    this.counts.losses++;
    this.#options.log.warn({ event: "valkey_away", cause: cause.message });
    this.#hasFailed = true;
    this.#connectLater();
  }

  #giveUp(calls: Batch["calls"]): void {
    this.counts.alone += calls.length;
    for (const { resolve } of calls) resolve(undefined);
  }

  #send(batches: Batch[]): void {
    const link = this.#link;
    if (!link) {
      for (const { calls } of batches) this.#giveUp(calls);
      return;
    }
    const sentMs = performance.now();
    const untilMs = (sentMs + link.aheadMs + this.#answerWithinMs).toFixed(0);
    link.client.together(() => {
      for (const batch of batches) void this.#ask(link, { ...batch, sentMs }, untilMs);
    });
    this.#watch(link);
  }

  /** A single timer, for the oldest batch under way: a timer per turn would cost more than the turn. */
  #watch(link: ValkeyLink): void {
    const [oldest] = link.inFlight;
    if (link.timer || !oldest) return;
    const look = () => {
      link.timer = undefined;
      const [still] = link.inFlight;
      if (still && performance.now() - still.sentMs >= this.#answerWithinMs)
        this.#lose(link, notInTime(this.#answerWithinMs));
      else this.#watch(link);
    };
    // If the process was suspended, the time can be in the past, and Node warns about negative delays.
    const waitMs = Math.max(0, oldest.sentMs + this.#answerWithinMs - performance.now());
    // Looks after the sockets were read once more: the answer may be there, while this process itself had to wait.
    link.timer = setTimeout(() => setImmediate(look), waitMs).unref();
  }

  async #ask(link: ValkeyLink, batch: SentBatch, untilMs: string): Promise<void> {
    const { nowMs } = this.#options;
    const args: (string | number)[] = [untilMs, nowMs ? nowMs() : ""];
    for (const { item } of batch.calls) for (const part of item) args.push(part);
    link.inFlight.add(batch);
    try {
      const answers = await link.client.evaluate(batch.script, batch.slot, args);
      // `#lose` has counted it already.
      if (!link.inFlight.delete(batch)) return;
      this.onRoundTrip(performance.now() - batch.sentMs);
      // The call reached the server too late, by the server's clock.
      if (!Array.isArray(answers)) return this.#giveUp(batch.calls);
      this.counts.answered += batch.calls.length;
      for (const [at, { resolve }] of batch.calls.entries()) resolve(answers[at]);
    } catch (cause) {
      this.#lose(link, cause as Error);
    }
  }
}

const notInTime = (ms: number): Error => new Error(`no answer within ${ms} ms`);

/** Rejects when there is no answer in time, after the sockets were read once more. */
function answered<T>(work: Promise<T>, withinMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => reject(notInTime(withinMs))), withinMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
