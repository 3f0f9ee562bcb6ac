import { generateKeyPairSync, randomBytes } from "node:crypto";
import { type App, createApp } from "../../src/app.ts";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import type { Grant } from "../../src/contract/permissions.ts";
import { createStore, type NewStore } from "../../src/create-store.ts";
import type { AppOptions } from "../../src/deps.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { createKeyring, type Keyring } from "../../src/lib/keyring.ts";
import { createLog } from "../../src/lib/log.ts";
import { newKey } from "../../src/signing-keys/key-rows.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Call, call } from "./call.ts";
import { handClock } from "./clock.ts";
import { UNHURRIED } from "./engines.ts";
import { expectSilentEvents, watchLog } from "./silence.ts";

export const PUBLIC_URL = "https://keys.example";

export type TestApp<C extends Clock = ReturnType<typeof handClock>> = {
  app: App;
  storage: Storage;
  clock: C;
  keyring: Keyring;
  publicUrl: string;
  logLines: Record<string, unknown>[];
  /** A store with its first key, and tokens for it. */
  createStore(rateLimit?: number): Promise<TestStore>;
  close(): Promise<void>;
};

export type TestStore = NewStore & { token(grant?: Grant): Promise<string>; call: Caller };

/** Calls an operation with the store's client_credentials token, unless the call has another one. */
export type Caller = (operation: Parameters<typeof call>[1], request?: Call) => ReturnType<typeof call>;

type Options = Partial<AppOptions> & { databaseUrl?: string };

export const testKeyring = createKeyring([randomBytes(32)]);

let rsaPair: ReturnType<typeof generateRsa> | undefined;
const generateRsa = () => generateKeyPairSync("rsa", { modulusLength: 2048 });

/**
 * All services of a test share a pair of RSA keys, each time under a new name: creating a pair takes a tenth of a
 * second.
 */
const makeTestKey: typeof newKey = async (alg) => {
  if (alg !== "RS256") return newKey(alg);
  rsaPair ??= generateRsa();
  return { kid: randomBytes(12).toString("base64url"), alg, ...rsaPair };
};

export async function createTestApp(options: Options = {}): Promise<TestApp> {
  const clock = (options.clock as ReturnType<typeof handClock> | undefined) ?? handClock();
  const { databaseUrl = "sqlite::memory:" } = options;
  const storage = options.storage ?? (await openStorage({ clock }, databaseUrl, UNHURRIED));
  const logLines: Record<string, unknown>[] = [];
  const log = createLog("debug", { write: (line) => void logLines.push(JSON.parse(line)) });
  const keyring = options.keyring ?? testKeyring;
  const standIns = { random: () => 0, makeKey: makeTestKey };
  const app = createApp({ publicUrl: PUBLIC_URL, log, ...standIns, ...options, storage, clock, keyring });
  watchLog(app, logLines);

  return {
    publicUrl: PUBLIC_URL,
    app,
    storage,
    clock,
    keyring,
    logLines,
    async createStore(rateLimit = 1000) {
      const made = await createStore({ storage, clock }, { name: "Test store", rate_limit: rateLimit });
      const token = (grant: Grant = "client_credentials") => getToken(app, made, grant);
      const own = await token();
      return {
        ...made,
        token,
        call: (operation, request = {}) => call(app, operation, { token: own, ...request }),
      };
    },
    async close() {
      await app.stop();
      await expectSilentEvents(app, storage);
      await storage.close();
    },
  };
}

export async function getToken(app: App, { key }: NewStore, grant: Grant): Promise<string> {
  const form = { grant_type: grant, client_id: key.clientId, client_secret: key.clientSecret };
  const { body } = await call(app, issueAccessToken, { form });
  return body.access_token;
}
