import pg from "pg";
import { answered, closeSocket, isOwnProcess } from "./connection.ts";
import { connectionOptions } from "./connections.ts";

/** The channel of the trigger on `stores`: a commit that changes a store says its id there. */
const CHANGES_CHANNEL = "latchkey_changes";

const HEARTBEAT_MS = 300;
/** Several beats: an answer that is merely late is no reason to connect anew. Holds for LISTEN itself, too. */
const ANSWER_MS = 1000;
/** A configuration that cannot hear is looked at again after this time; until then every beat drops everything. */
const DEAF_MS = 30_000;

/** Names a running server and a database on it: two connections that give the same answer hear the same notices. */
export const PLACE =
  "(select pg_postmaster_start_time() || ' ' || oid from pg_database where datname = current_database())";

const BEHIND_POOLER = "they do not come through a pooler";
const ELSEWHERE = "LATCHKEY_DATABASE_DIRECT_URL leads to another database than LATCHKEY_DATABASE_URL";

type Listening = {
  /** Why nothing can be heard, in words. */
  deafness(): string | undefined;
  stop(): Promise<void>;
};

type Hearers = {
  onChange(storeId: string): void;
  onAny(): void;
  /** Where statements go, if that is another address. */
  place: (() => Promise<string | undefined>) | undefined;
};

/**
 * Hears of other instances' commits. A heartbeat shows that we still would: while it is not answered we may have missed
 * some, so everything is dropped at every beat, and what is kept in memory is never older than one.
 */
export function listenForChanges(url: string, name: string, { onChange, onAny, place }: Hearers): Listening {
  let client: pg.Client | undefined;
  let isLive = false;
  let isAnswered = true;
  let deaf: { because: string; untilMs: number } | undefined;

  function abandon(): void {
    if (client) closeSocket(client);
    client = undefined;
    isLive = false;
    isAnswered = true;
  }

  async function connect(): Promise<void> {
    const mine = new pg.Client(connectionOptions(url, name));
    client = mine;
    mine.on("error", () => {});
    mine.on("notification", (message) => (message.payload ? onChange(message.payload) : onAny()));
    await mine.connect();
    const because = await findDeafness(mine);
    deaf = because === undefined ? undefined : { because, untilMs: performance.now() + DEAF_MS };
    if (deaf) return abandonIf(mine)();
    await answered(mine.query(`listen ${CHANGES_CHANNEL}`), ANSWER_MS);
    if (client !== mine) return;
    isLive = true;
    onAny();
  }

  /** Asked before LISTEN: a pooler would let a process listen that is then lent to somebody else. */
  async function findDeafness(mine: pg.Client): Promise<string | undefined> {
    const asked = mine.query(`select ${isOwnProcess(mine)} as own, ${PLACE} as place`);
    const { rows } = await answered(asked, ANSWER_MS);
    if (rows[0].own !== true) return BEHIND_POOLER;
    return !place || rows[0].place === (await place()) ? undefined : ELSEWHERE;
  }

  /** Handlers of a connection that has been replaced do nothing. */
  const abandonIf = (mine: pg.Client | undefined) => () => {
    if (client === mine) abandon();
  };

  function beat(): void {
    if (!isLive || !isAnswered) onAny();
    if (!client) {
      if (deaf && performance.now() < deaf.untilMs) return;
      const connecting = connect();
      connecting.catch(abandonIf(client));
    } else if (isLive && isAnswered) {
      const asked = client;
      isAnswered = false;
      answered(asked.query("select 1"), ANSWER_MS).then(() => {
        if (client === asked) isAnswered = true;
      }, abandonIf(asked));
    }
  }

  beat();
  const timer = setInterval(beat, HEARTBEAT_MS);
  timer.unref();
  return {
    deafness: () => deaf?.because,
    async stop() {
      clearInterval(timer);
      await client?.end().catch(() => {});
    },
  };
}
