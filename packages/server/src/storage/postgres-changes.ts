import pg from "pg";
import { answered, closeSocket, connectionOptions } from "./postgres-connections.ts";

/** The channel of the trigger on `stores`: a commit that changes a store says its id there. */
const CHANGES_CHANNEL = "latchkey_changes";

const HEARTBEAT_MS = 300;
/** Several beats: an answer that is merely late is no reason to connect anew. Holds for LISTEN itself, too. */
const ANSWER_MS = 1000;

/**
 * Hears of other instances' commits. A heartbeat shows that we still would: while it is not answered we may have missed
 * some, so everything is dropped at every beat, and what is kept in memory is never older than one.
 */
export function listenForChanges(
  url: string,
  name: string,
  onChange: (storeId: string) => void,
  onAny: () => void,
): () => Promise<void> {
  let client: pg.Client | undefined;
  let isLive = false;
  let isAnswered = true;

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
    await answered(mine.query(`listen ${CHANGES_CHANNEL}`), ANSWER_MS);
    if (client !== mine) return;
    isLive = true;
    onAny();
  }

  /** What belongs to a connection that was replaced in the meantime is nobody's business any more. */
  const abandonIf = (mine: pg.Client | undefined) => () => {
    if (client === mine) abandon();
  };

  function beat(): void {
    if (!isLive || !isAnswered) onAny();
    if (!client) {
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
  return async () => {
    clearInterval(timer);
    await client?.end().catch(() => {});
  };
}
