import { sql } from "kysely";
import pg from "pg";
import type { Database } from "../storage.ts";
import { connectionOptions } from "./connections.ts";
import { answered } from "./errors.ts";
import { closeSocket, isOwnProcess } from "./session.ts";

/** The channel of the trigger on `stores`: a commit that changes a store sends its id there. */
const CHANGES_CHANNEL = "latchkey_changes";

const HEARTBEAT_MS = 300;
/** Several heartbeats: an answer that is merely late is no reason to connect anew. Holds for LISTEN itself, too. */
const ANSWER_MS = 1000;
/** An address without notices is tried again after this time; until then every heartbeat drops all caches. */
const DEAF_MS = 30_000;

/** Names a running server and a database on it: two connections that give the same answer get the same notices. */
const SERVER_AND_DATABASE =
  "(select pg_postmaster_start_time() || ' ' || oid from pg_database where datname = current_database())";

export const findServerAndDatabase = async (db: Database): Promise<string | undefined> =>
  (await db.selectNoFrom(sql.raw<string>(SERVER_AND_DATABASE).as("place")).executeTakeFirst())?.place;

const BEHIND_POOLER = "they do not come through a pooler";
const ELSEWHERE = "LATCHKEY_DATABASE_DIRECT_URL leads to another database than LATCHKEY_DATABASE_URL";

type Options = {
  onChange(storeId: string): void;
  /** Any store may have changed. */
  onAny(): void;
  /** The server and database that statements go to, if that is another address. */
  place: (() => Promise<string | undefined>) | undefined;
};

/**
 * Listens for the commits of other instances. A heartbeat shows that the connection works: while it is not answered,
 * notices may have been lost, so everything is dropped at every heartbeat, and what is kept in memory is never older
 * than one.
 */
export class ChangesListener {
  readonly #url: string;
  readonly #name: string;
  readonly #options: Options;
  readonly #timer: NodeJS.Timeout;
  #client: pg.Client | undefined;
  #isListening = false;
  #isAnswered = true;
  #deaf: { because: string; untilMs: number } | undefined;

  constructor(url: string, name: string, options: Options) {
    this.#url = url;
    this.#name = name;
    this.#options = options;
    this.#beat();
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
  }

  /** Why no notice can come, in words. */
  get deafness(): string | undefined {
    return this.#deaf?.because;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  #beat(): void {
    if (!this.#isListening || !this.#isAnswered) this.#options.onAny();
    if (!this.#client) {
      if (this.#deaf && performance.now() < this.#deaf.untilMs) return;
      // Settled in the promise, because pg reads certificate files when it makes a client, and throws.
      this.#connect().catch(() => {});
    } else if (this.#isListening && this.#isAnswered) void this.#checkAnswer(this.#client);
  }

  #createClient(): pg.Client {
    const client = new pg.Client(connectionOptions(this.#url, this.#name));
    client.on("error", () => {});
    client.on("notification", ({ payload }) =>
      payload ? this.#options.onChange(payload) : this.#options.onAny(),
    );
    return client;
  }

  async #connect(): Promise<void> {
    const client = this.#createClient();
    this.#client = client;
    try {
      await this.#listen(client);
    } catch {
      this.#abandon(client);
    }
  }

  async #listen(client: pg.Client): Promise<void> {
    await client.connect();
    const because = await this.#findDeafness(client);
    this.#deaf = because === undefined ? undefined : { because, untilMs: performance.now() + DEAF_MS };
    if (this.#deaf) return this.#abandon(client);
    await answered(client.query(`listen ${CHANGES_CHANNEL}`), ANSWER_MS);
    if (this.#client !== client) return;
    this.#isListening = true;
    this.#options.onAny();
  }

  /** Before LISTEN: behind a pooler, a process would listen that is then lent to another client. */
  async #findDeafness(client: pg.Client): Promise<string | undefined> {
    const asked = client.query(`select ${isOwnProcess(client)} as own, ${SERVER_AND_DATABASE} as place`);
    const { rows } = await answered(asked, ANSWER_MS);
    if (rows[0].own !== true) return BEHIND_POOLER;
    const { place } = this.#options;
    return !place || rows[0].place === (await place()) ? undefined : ELSEWHERE;
  }

  async #checkAnswer(client: pg.Client): Promise<void> {
    this.#isAnswered = false;
    try {
      await answered(client.query("select 1"), ANSWER_MS);
      if (this.#client === client) this.#isAnswered = true;
    } catch {
      this.#abandon(client);
    }
  }

  /** Does nothing for a client that has been replaced. */
  #abandon(client: pg.Client): void {
    if (this.#client !== client) return;
    closeSocket(client);
    this.#client = undefined;
    this.#isListening = false;
    this.#isAnswered = true;
  }
}
