import { availableParallelism, totalmem } from "node:os";
import * as argon2 from "@node-rs/argon2";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { createWorkQueue } from "../lib/work-queue.ts";

export type Passwords = {
  hash(storeId: string, password: string): Promise<string>;
  /**
   * With `null` a dummy hash is verified, so that it takes as long as with a real one, and the result is false. Asked at its
   * turn whether it is still wanted: nobody's work is done for a client that has gone.
   */
  matches(
    storeId: string,
    passwordHash: string | null,
    password: string,
    isWanted?: () => boolean,
  ): Promise<boolean>;
  /** How many wait for their turn. */
  waiting(): number;
};

/** Argon2id (RFC 9106) with 19 MiB, two passes and one lane: the OWASP minimum, some 20 ms of one core. */
const COST = {
  algorithm: 2,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const satisfies argon2.Options;

/** The dummy: the same parameters as a real hash, with zeros as salt and as result, which no known password gives. */
const NOBODYS_HASH = [
  "$argon2id$v=19",
  `m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}`,
  toUnpaddedBase64(new Uint8Array(16)),
  toUnpaddedBase64(new Uint8Array(32)),
].join("$");

/** How long somebody waits for the turn of a password; then, or when the wait would be longer, they are asked to come again. */
const WAIT_MS = 2000;
/** What one is taken to need until some have been measured: that of a slow core. */
const EACH_MS = 50;

/**
 * One for each core, so far as they take no more than a quarter of the memory. The library works on libuv's threads, of which
 * bin/start.js asks for four more than there are cores: those go on resolving names and writing the log.
 */
export function hashesAtOnce(cores = availableParallelism(), memoryBytes = memoryLimit()): number {
  return Math.max(1, Math.min(cores, Math.floor(memoryBytes / 4 / (COST.memoryCost * 1024))));
}

/** A container may have less than the machine. Node says 0 where it cannot tell. */
const memoryLimit = (): number => Math.min(totalmem(), process.constrainedMemory() || totalmem());

type Options = {
  clock: Clock;
  atOnce?: number;
  eachMs?: number;
  library?: Pick<typeof argon2, "hash" | "verify">;
};

export function createPasswords({
  clock,
  atOnce = hashesAtOnce(),
  eachMs = EACH_MS,
  library = argon2,
}: Options): Passwords {
  // Anybody who knows a store's client id can have passwords checked there, so stores are served in turn.
  const refusal = () => new Problem("password_queue_full", { retryAfterSeconds: 1 });
  const queue = createWorkQueue({ clock, atOnce, waitMs: WAIT_MS, eachMs, refusal });

  return {
    hash: (storeId, password) => queue.run(storeId, () => library.hash(normalize(password), COST)),
    async matches(storeId, passwordHash, password, isWanted) {
      const verify = () => library.verify(passwordHash ?? NOBODYS_HASH, normalize(password));
      const isRight = await queue.run(storeId, verify, isWanted);
      return isRight && passwordHash !== null;
    },
    waiting: queue.waiting,
  };
}

/**
 * The same characters come composed from one keyboard and decomposed from another, or full-width from a third. They
 * are one password (NIST SP 800-63B 5.1.1.2). Nothing else is changed: case and spaces count.
 */
const normalize = (password: string): string => password.normalize("NFKC");

function toUnpaddedBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
