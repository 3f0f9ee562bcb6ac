import { availableParallelism, totalmem } from "node:os";
import * as argon2 from "@node-rs/argon2";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { createWorkQueue } from "../lib/work-queue.ts";

export type Passwords = ReturnType<typeof createPasswords>;

/** Argon2id (RFC 9106) with 19 MiB, two passes and one lane: the OWASP minimum, some 20 ms of one core. */
const COST = {
  algorithm: 2,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const satisfies argon2.Options;

/** The parameters of a real hash, with zeros as salt and as result. No known password has this hash. */
const DUMMY_HASH = [
  "$argon2id$v=19",
  `m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}`,
  toUnpaddedBase64(new Uint8Array(16)),
  toUnpaddedBase64(new Uint8Array(32)),
].join("$");

/** The longest wait in the queue. A longer one, expected or actual, is refused with `password_queue_full`. */
const WAIT_MS = 2000;
/** The assumed time for one hash until some have been measured: the time on a slow core. */
const EACH_MS = 50;

/**
 * A hash for each core, but no more than fit in a quarter of the memory. The library works on libuv's threads, of which
 * bin/start.js sets four more than cores, so that names are still resolved and the log is still written.
 */
export function hashesAtOnce(cores = availableParallelism(), memoryBytes = memoryLimit()): number {
  return Math.max(1, Math.min(cores, Math.floor(memoryBytes / 4 / (COST.memoryCost * 1024))));
}

/** A container can have less memory than the machine. Node returns 0 if it does not know. */
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
}: Options) {
  // A client id is public, and enough to have passwords checked, so the queue serves the stores in turn.
  const refusal = () => new Problem("password_queue_full", { retryAfterSeconds: 1 });
  const queue = createWorkQueue({ clock, atOnce, waitMs: WAIT_MS, eachMs, refusal });

  return {
    hash: (storeId: string, password: string) =>
      queue.run(storeId, () => library.hash(normalize(password), COST)),
    /**
     * `null` verifies a dummy hash, which takes as long as a real one, and returns false. `isWanted` is called when the
     * work's turn comes, so that no password is verified for a client that has closed its connection.
     */
    async matches(
      storeId: string,
      passwordHash: string | null,
      password: string,
      isWanted?: () => boolean,
    ): Promise<boolean> {
      const verify = () => library.verify(passwordHash ?? DUMMY_HASH, normalize(password));
      const isRight = await queue.run(storeId, verify, isWanted);
      return isRight && passwordHash !== null;
    },
    /** The length of the queue. */
    waiting: queue.waiting,
  };
}

/**
 * Keyboards send the same character composed, decomposed or in full width. These are the same password (NIST SP 800-63B
 * 5.1.1.2). Nothing else is changed: case and spaces count.
 */
const normalize = (password: string): string => password.normalize("NFKC");

function toUnpaddedBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
