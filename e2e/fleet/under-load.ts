import pg from "pg";
import { expect } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { type Answer, type Notebook, newNotebook, type Target } from "./ask.ts";
import { everybody, type World } from "./clients.ts";
import type { Fleet, Instance } from "./fleet.ts";
import { type Deed, type Entry, type Fault, findViolations, type History, summarise } from "./history.ts";
import { report } from "./report.ts";
import { ceilingOf, FLOOR, type Shop } from "./shop.ts";

/** The fault of a test, while its clients send. */
export type Trouble = {
  /** Begins a fault; the returned function ends it. */
  begin(fault: Pick<Fault, "shows" | "at">): () => void;
  /** Waits until that many more requests were acknowledged, by the named instance or by any. */
  served(requests: number, at?: string): Promise<void>;
  /** Waits until that many more requests failed. */
  failed(requests: number, at?: string): Promise<void>;
};

type Options = {
  name: string;
  /** The target of the clients, if not the instances themselves. */
  front?: Target;
  /** Whether two sign-ons of a new person race (I5); true unless set to false. */
  racesForPeople?: boolean;
  /** The longest recovery after the end of the cause. */
  recoversWithinSeconds: number;
};

const KINDS: readonly Deed["did"][] = ["make", "other", "read", "redeem", "revoke", "signOn", "use", "write"];

/**
 * Runs all clients during `trouble`, waits until everything is served again, and checks the whole history. Adds a line
 * to the table at the end of the run.
 */
export async function underLoad(
  fleet: Fleet,
  shop: Shop,
  { name, front, racesForPeople = true, recoversWithinSeconds }: Options,
  trouble: (trouble: Trouble) => Promise<void>,
): Promise<History> {
  const notebook = newNotebook();
  const { entries } = notebook;
  const faults: Fault[] = [];
  const targets: Target[] = front ? [front] : fleet.instances;
  let isOver = false;
  let picked = 0;
  const world: World = {
    notebook,
    shop,
    idp: fleet.idp,
    publicUrl: fleet.publicUrl,
    pick: () => targets[picked++ % targets.length] as Target,
    everywhere: () => targets,
    racesForPeople,
    isOver: () => isOver,
  };

  const more = async (requests: number, at: string | undefined, counts: (entry: Entry) => boolean) => {
    const from = entries.length;
    const isOne = (entry: Entry) => counts(entry) && (at === undefined || entry.at === at);
    await until(() => entries.slice(from).filter(isOne).length >= requests);
  };
  const served: Trouble["served"] = (requests, at) =>
    more(requests, at, ({ status }) => status !== undefined && status < 400);

  const logsBefore = fleet.logs().length;
  const machine = watchMachine();
  const reservations = watchReservations(fleet, shop, machine);
  const readiness = watchReadiness(fleet);
  const clients = everybody.map((client, index) => client(world, index));
  /** Each kind of request was served once more: a load with a part that does not work would prove nothing. */
  const everyKind = async () => {
    const from = entries.length;
    const isServed = ({ status }: Entry) => status !== undefined && status < 400;
    const kinds = () =>
      new Set(
        entries
          .slice(from)
          .filter(isServed)
          .map(({ deed }) => deed.did),
      );
    await until(() => KINDS.every((kind) => kinds().has(kind)));
  };
  try {
    await everyKind();
    await trouble({
      begin(fault) {
        const begun = { name, ...fault, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
        faults.push(begun);
        return () => {
          begun.toMs = performance.now();
        };
      },
      served,
      failed: (requests, at) => more(requests, at, ({ status }) => status === undefined || status >= 500),
    });
    await readiness.untilWell();
    await everyKind();
    await served(100);
  } finally {
    isOver = true;
    await Promise.allSettled(clients);
  }
  await readEverything(world, fleet.instances);
  const history: History = {
    entries,
    faults,
    floors: new Map([[shop.flooded.floor.id, FLOOR]]),
    // Without Valkey each instance counts alone.
    ...(fleet.valkey && { ceiling: ceilingOf(shop.flooded) }),
    reservations: await reservations.stop(),
    starved: machine.stop(),
    owners: await findOwners(fleet),
    looks: await readiness.stop(),
    logs: fleet.logs().slice(logsBefore),
    secrets: [...notebook.secrets],
  };
  const summary = summarise(history);
  report({ fault: name, ...summary });
  const violations = findViolations(history);
  const linesWith = (status: RegExp) =>
    history.logs
      .split("\n")
      .filter((line) => status.test(line))
      .slice(0, 5);
  // A few of each are enough to see the fault and its place.
  expect([
    ...violations.slice(0, 20),
    ...linesWith(/"status":5(?!03)/),
    ...(violations.length > 0 ? linesWith(/"status":503/) : []),
  ]).toEqual([]);
  // A busy machine does not recover, so its times are left out.
  if (history.starved.length === 0) expect(summary.recoverySeconds).toBeLessThan(recoversWithinSeconds);
  return history;
}

export const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/health/ready`).then(
    (answer) => answer.ok,
    () => false,
  );

/** Reads every written row, and uses every valid token, at every instance (I2). */
async function readEverything({ notebook, shop }: World, instances: readonly Instance[]): Promise<void> {
  const rows = new Set(notebook.entries.flatMap(({ deed }) => (deed.did === "write" ? [deed.row] : [])));
  const tight = new Set(shop.tight.keys.map(({ id }) => id));
  const paths: Record<string, string> = {
    key: "/v2/application-keys",
    customer: "/v2/customers",
    "authentication-realm": "/v2/authentication-realms",
  };
  for (const row of rows) {
    const [type = "", id = ""] = row.split(" ");
    if (id === "undefined") continue;
    const token = tight.has(id) ? shop.tight.admin : shop.work.admin;
    const deed = ({ data }: Answer) => ({ did: "read", row, value: data.name }) as const;
    const path = `${paths[type]}/${id}`;
    await Promise.all(instances.map((instance) => notebook.ask(instance, { path, token, deed })));
  }
}

type Machine = { note(fromMs: number): void; stop(): History["starved"] };

/** Longer than any step takes on a machine with free processors. */
const STARVED_MS = 150;

/** Whether the machine is fast enough: a late timer means no, and so does a slow small transaction on PostgreSQL. */
function watchMachine(): Machine {
  const starved: History["starved"][number][] = [];
  const note = (fromMs: number) => {
    const toMs = performance.now();
    if (toMs - fromMs > STARVED_MS) starved.push({ fromMs, toMs });
  };
  let beforeMs = performance.now();
  const timer = setInterval(() => {
    note(beforeMs);
    beforeMs = performance.now();
  }, 50);
  return {
    note,
    stop() {
      clearInterval(timer);
      return starved;
    },
  };
}

/** The reads for which a connection is kept: a new connection must also open in time. */
const LOOKS_OF_CONNECTION = 20;

/** Reads the reservations repeatedly, over connections of its own. */
function watchReservations({ postgres }: Fleet, { tight }: Shop, machine: Machine) {
  const seen: { reserved: number; limit: number }[] = [];
  let isOver = false;
  const look = async () => {
    const client = new pg.Client({ connectionString: postgres.url, query_timeout: 2000 });
    client.on("error", () => {});
    const connectMs = performance.now();
    try {
      await client.connect();
      machine.note(connectMs);
      for (let asked = 0; asked < LOOKS_OF_CONNECTION && !isOver; asked++) {
        const askedMs = performance.now();
        const { rows } = await client.query(
          // No instance listens to this message; it makes the transaction wait for the log on disk, as a write does.
          `select (select sum(reserved_rate_limit) from application_keys where store_id = $1)::int as reserved,
             (select rate_limit from stores where id = $1)::int as limit, pg_logical_emit_message(true, 'watch', '')`,
          [tight.id],
        );
        machine.note(askedMs);
        seen.push(rows[0]);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    } finally {
      client.end().catch(() => {});
    }
  };
  const looking = until(async () => {
    await look().catch(() => {});
    return isOver;
  }, 600_000);
  return {
    async stop() {
      isOver = true;
      await looking;
      return seen;
    },
  };
}

const LOOK_WITHIN_MS = 2000;

/** Without Valkey every instance is always degraded: each counts alone. */
function watchReadiness({ instances, valkey }: Fleet) {
  const seen: History["looks"][number][] = [];
  let isOver = false;
  const look = async ({ name: at, url }: Instance) => {
    while (!isOver) {
      const sentMs = performance.now();
      const isWell = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(LOOK_WITHIN_MS) }).then(
        async (answer) => {
          const { degraded = [] } = (await answer.json()) as { degraded?: string[] };
          return answer.ok && (valkey === undefined || degraded.length === 0);
        },
        () => false,
      );
      seen.push({ at, sentMs, isWell });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const looking = instances.map(look);
  return {
    /** Until each instance is well, in a read that began from now on. */
    async untilWell() {
      const nowMs = performance.now();
      await until(() =>
        instances.every(({ name }) =>
          seen.some((look) => look.at === name && look.sentMs > nowMs && look.isWell),
        ),
      );
    },
    async stop() {
      isOver = true;
      await Promise.all(looking);
      return seen;
    },
  };
}

async function findOwners({ postgres }: Fleet): Promise<History["owners"]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rows } = await client.query(
    `select token.id, token.customer_id as customer,
       concat_ws(' ', known.store_id, known.realm_id, known.profile_id, known.issuer, known.subject) as identity
     from customer_tokens as token join customer_identities as known
       on known.customer_id = token.customer_id and known.profile_id = token.profile_id and known.subject = token.subject`,
  );
  await client.end();
  return new Map(rows.map(({ id, customer, identity }) => [id, { customer, identity }]));
}

/** The check of a test without load, which does not depend on the speed of the machine (I9). */
export function expectNoViolation(notebook: Notebook, fleet: Fleet): void {
  const history: History = {
    entries: notebook.entries,
    faults: [],
    floors: new Map(),
    reservations: [],
    owners: new Map(),
    starved: [],
    looks: [],
    logs: fleet.logs(),
    secrets: [...notebook.secrets],
  };
  expect(findViolations(history).filter(({ invariant }) => invariant !== "I9")).toEqual([]);
}
