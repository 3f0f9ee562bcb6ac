import * as argon2 from "@node-rs/argon2";
import { Problem } from "../contract/problem.ts";
import { createWorkQueue } from "../lib/work-queue.ts";

export type Passwords = {
  hash(storeId: string, password: string): Promise<string>;
  /** With `null` a dummy hash is verified, so that it takes as long as with a real one, and the result is false. */
  matches(storeId: string, passwordHash: string | null, password: string): Promise<boolean>;
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

// The library works on libuv's four threads, which also resolve names and read files: half of them stay free.
const MAX_RUNNING = 2;
// At two a time and 20 ms each, 64 waiting are done within a second. A store may hold 16 of the places, because anybody
// who knows its client id can have passwords hashed; stores are served in turn.
const MAX_WAITING = 64;
const MAX_WAITING_OF_STORE = 16;

export function createPasswords({
  maxRunning = MAX_RUNNING,
  maxWaiting = MAX_WAITING,
  maxWaitingOfStore = MAX_WAITING_OF_STORE,
  library = argon2 as Pick<typeof argon2, "hash" | "verify">,
} = {}): Passwords {
  const queue = createWorkQueue({ maxRunning, maxWaiting, maxWaitingOfGroup: maxWaitingOfStore });

  function inTurn<T>(storeId: string, work: () => Promise<T>): Promise<T> {
    const result = queue.run(storeId, work);
    if (!result) throw new Problem("password_queue_full", { retryAfterSeconds: 1 });
    return result;
  }

  return {
    hash: async (storeId, password) => inTurn(storeId, () => library.hash(normalize(password), COST)),
    async matches(storeId, passwordHash, password) {
      const isRight = await inTurn(storeId, () =>
        library.verify(passwordHash ?? NOBODYS_HASH, normalize(password)),
      );
      return isRight && passwordHash !== null;
    },
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
