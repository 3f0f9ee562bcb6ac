/**
 * The requests of a fleet's clients with their answers, and the invariants I1 to I10, which hold during every fault.
 * All instants are milliseconds of the monotonic clock of the sending process.
 */
export type Entry = {
  /** The instance that got the request, or the balancer. */
  at: string;
  sentMs: number;
  doneMs: number;
  /** `undefined`: no complete answer came. */
  status: number | undefined;
  retryAfter?: string | undefined;
  /** The application key whose limit the request counts against. */
  key?: string | undefined;
  deed: Deed;
};

export type Deed =
  | { did: "other" }
  /** `value` of `undefined`: deleted. No value is written twice to one row. */
  | { did: "write"; row: string; value: string | undefined; updatedAt?: string }
  | { did: "read"; row: string; value?: string | undefined; updatedAt?: string; lastUsedAt?: string | null }
  /** A completed sign-on with its code; `identity` is store, realm, profile, issuer and subject. */
  | { did: "signOn"; code: string; identity: string }
  | { did: "redeem"; code: string; idempotencyKey?: string | undefined; given?: Given }
  /**
   * Something that is valid from `make` until `revoke`; `use` is answered 2xx while it is valid. The token of a code is
   * named `token <id>`.
   */
  | { did: "make"; what: string }
  | { did: "use"; what: string }
  | { did: "revoke"; what: string };

/** The token and customer of a redeemed code. */
type Given = { tokenId: string; customer: string };

export type Fault = {
  name: string;
  fromMs: number;
  toMs: number;
  /** The only affected instance; without it, all instances. */
  at?: string;
  /** The effects that clients may see during the fault and the recovery: 503s, broken connections, no answers. */
  shows: readonly ("unavailable" | "broken" | "paused")[];
};

export type History = {
  entries: readonly Entry[];
  faults: readonly Fault[];
  /** By key: its constant reservation. */
  floors: ReadonlyMap<string, number>;
  /**
   * The common limit of a store's keys, where all instances count together; `reserve` is on top of `limit × (T + 1)`.
   */
  ceiling?: { keys: ReadonlySet<string>; limit: number; reserve: number };
  /** The sum of a store's reservations, read repeatedly over a connection outside the service. */
  reservations: readonly { reserved: number; limit: number }[];
  /** At the end: the owner of each customer token in the database, by token id. */
  owners: ReadonlyMap<string, { customer: string; identity: string }>;
  /** Times in which the machine itself was slow, measured without the service: they excuse slowness. */
  starved: readonly { fromMs: number; toMs: number }[];
  /** Whether each instance reported that it is ready and not degraded, read repeatedly. */
  looks: readonly { at: string; sentMs: number; isWell: boolean }[];
  logs: string;
  secrets: readonly string[];
};

type Violation = { invariant: string; what: string };

/** The promise: revoked here, refused everywhere (I4). */
const STALE_MS = 1000;
/** An abandoned statement may be carried out this much later: the server ends it by then (ADR 11). */
const LATE_MS = 2000;
/** Longer than any answer may take: two seconds for the database, the rest for a machine that is busy with the test. */
const DEADLINE_MS = 10_000;
/** From the end of the cause until everything is served again. */
const RECOVER_WITHIN_MS = 15_000;
/** The effect of a busy processor lasts a while. */
const FELT_FOR_MS = 10_000;

const isAcknowledged = ({ status }: Entry): boolean => status !== undefined && status < 400;
/** The client does not know whether the request was carried out. */
const isInDoubt = ({ status }: Entry): boolean => status === undefined || status >= 500;

type Of<Did extends Deed["did"]> = Entry & { deed: Extract<Deed, { did: Did }> };
const of = <Did extends Deed["did"]>({ entries }: History, ...dids: Did[]): Of<Did>[] =>
  entries.filter((entry): entry is Of<Did> => (dids as string[]).includes(entry.deed.did));

const isStarved = ({ starved }: History, fromMs: number, toMs: number): boolean =>
  starved.some((time) => time.fromMs < toMs && time.toMs + FELT_FOR_MS > fromMs);

export function findViolations(history: History): Violation[] {
  return checks.flatMap(([invariant, find]) => find(history).map((what) => ({ invariant, what })));
}

/** A code gives one token. A repeated Idempotency-Key may get the same token again; no other request does. */
function codesUsedTwice(history: History): string[] {
  const redeemed = of(history, "redeem").filter(isAcknowledged);
  return [...Map.groupBy(redeemed, ({ deed }) => deed.code).values()].flatMap((all) => {
    const tokens = new Set(all.map(({ deed }) => deed.given?.tokenId));
    const askers = new Set(all.map(({ deed }, index) => deed.idempotencyKey ?? `${index}`));
    return tokens.size > 1 || askers.size > 1
      ? [`one code was redeemed ${all.length} times and gave ${tokens.size} tokens`]
      : [];
  });
}

/** The instant by which a write was carried out or never will be. A refused write never is. */
function settledMs(history: History, write: Of<"write">): number {
  if (!isInDoubt(write)) return write.doneMs;
  const ends = history.faults
    .filter((fault) => fault.fromMs <= write.doneMs && fault.toMs >= write.sentMs)
    .map((fault) => fault.toMs);
  return Math.max(write.doneMs, ...ends) + LATE_MS;
}

/**
 * A read returns a write that may be the last one before the read. A value is wrong when no client has written it, or
 * when another write was acknowledged before the read began and is later than the returned one.
 */
function lostWrites(history: History): string[] {
  const writes = Map.groupBy(
    of(history, "write").filter((write) => isAcknowledged(write) || isInDoubt(write)),
    ({ deed }) => deed.row,
  );
  return of(history, "read").flatMap((read) => {
    const { row, value } = read.deed;
    if (read.status !== 200 && read.status !== 404) return [];
    const ofRow = (writes.get(row) ?? []).filter((write) => write.sentMs < read.doneMs);
    const source = ofRow.find((write) => write.deed.value === value);
    const acknowledged = ofRow.filter((write) => isAcknowledged(write) && write.doneMs < read.sentMs);
    const settled = source === undefined ? Number.NEGATIVE_INFINITY : settledMs(history, source);
    const later = acknowledged.find((write) => write !== source && write.sentMs > settled);
    if (source && !later) return [];
    if (!source && !later) return value === undefined ? [] : [`${row} reads ${value}, which nobody wrote`];
    return [`${row} reads ${value} at ${read.at}, after ${later?.deed.value} was acknowledged`];
  });
}

/** An issued thing is valid from its creation until a client revokes it. */
function lostThings(history: History): string[] {
  const made = Map.groupBy(of(history, "make", "redeem").filter(isAcknowledged), ({ deed }) =>
    deed.did === "make" ? deed.what : `token ${deed.given?.tokenId}`,
  );
  const revoked = Map.groupBy(of(history, "revoke"), ({ deed }) => deed.what);
  return of(history, "use").flatMap((use) => {
    const isRefused = use.status === 401 || use.status === 403 || use.status === 404;
    const isMade = made.get(use.deed.what)?.some((make) => make.doneMs < use.sentMs);
    const isRevoked = revoked.get(use.deed.what)?.some((revoke) => revoke.sentMs < use.doneMs);
    return isRefused && isMade && !isRevoked
      ? [`${use.deed.what} was given and is refused with ${use.status} at ${use.at}`]
      : [];
  });
}

/** A token belongs to the identity of its code, and its code came from a completed sign-on. */
function strangeTokens(history: History): string[] {
  const signOns = new Map(of(history, "signOn").map(({ deed }) => [deed.code, deed.identity]));
  return of(history, "redeem").flatMap(({ deed: { code, given } }) => {
    if (!given) return [];
    const owner = history.owners.get(given.tokenId);
    const identity = signOns.get(code);
    if (identity === undefined) return ["a code that no sign-on gave was redeemed"];
    // A token that was revoked since has no row to compare with.
    if (owner === undefined) return [];
    return owner.identity === identity && owner.customer === given.customer
      ? []
      : [`the token of a sign-on as ${identity} is ${owner.identity}'s`];
  });
}

function revokedAndServed(history: History): string[] {
  const revoked = Map.groupBy(of(history, "revoke").filter(isAcknowledged), ({ deed }) => deed.what);
  return of(history, "use").flatMap((use) => {
    const late = revoked
      .get(use.deed.what)
      ?.find((revoke) => isAcknowledged(use) && use.sentMs > revoke.doneMs + STALE_MS);
    if (!late || isStarved(history, late.doneMs, use.doneMs)) return [];
    const seconds = ((use.sentMs - late.doneMs) / 1000).toFixed(1);
    return [`${use.deed.what} was revoked at ${late.at} and is served ${seconds} s later at ${use.at}`];
  });
}

function customersMadeTwice(history: History): string[] {
  const signOns = new Map(of(history, "signOn").map(({ deed }) => [deed.code, deed.identity]));
  const given = of(history, "redeem").filter(({ deed }) => deed.given && signOns.has(deed.code));
  return [...Map.groupBy(given, ({ deed }) => signOns.get(deed.code) as string)].flatMap(
    ([identity, all]) => {
      const customers = new Set(all.map(({ deed }) => deed.given?.customer));
      return customers.size > 1 ? [`${identity} is ${customers.size} customers`] : [];
    },
  );
}

/**
 * A refused request of a key within its floor. The instant of the decision is unknown, so every request counts that may
 * have been decided in the second before the refusal.
 */
function floorsRefused(history: History): string[] {
  const drawn = history.entries.filter(({ key }) => key !== undefined && history.floors.has(key));
  return [...Map.groupBy(drawn, ({ key }) => key as string)].flatMap(([key, all]) =>
    all
      .filter(({ status }) => status === 429)
      .flatMap((refused) => {
        const floor = history.floors.get(key) ?? 0;
        const near = all.filter(
          ({ sentMs, doneMs }) => doneMs >= refused.sentMs - 1000 && sentMs <= refused.doneMs,
        );
        return near.length <= floor
          ? [`${key} has a floor of ${floor}, asked ${near.length} times and was refused at ${refused.at}`]
          : [];
      }),
  );
}

/** The limit is exact again this long after a fault. */
const EXACT_AFTER_MS = 1000;
const STRETCHES_SECONDS = [1, 5];

/** Over T seconds a store was served more than its limit and the documented burst (docs/rate-limits.md). */
function limitExceeded({ entries, faults, ceiling }: History): string[] {
  if (!ceiling) return [];
  const { keys, limit, reserve } = ceiling;
  const served = entries.filter((entry) => keys.has(entry.key ?? "") && isAcknowledged(entry));
  return STRETCHES_SECONDS.flatMap((seconds) => {
    const most = limit * (seconds + 1) + reserve;
    const counts = served.map(({ sentMs: fromMs }) => {
      const toMs = fromMs + seconds * 1000;
      const isTroubled = faults.some((fault) => fault.fromMs < toMs && fault.toMs + EXACT_AFTER_MS > fromMs);
      // A request that was sent and answered within the interval was decided in it.
      return isTroubled
        ? 0
        : served.filter(({ sentMs, doneMs }) => sentMs >= fromMs && doneMs <= toMs).length;
    });
    const worst = Math.max(0, ...counts);
    return worst > most ? [`${worst} were served in ${seconds} s, where ${most} are the most`] : [];
  });
}

const reservedTooMuch = ({ reservations }: History): string[] =>
  reservations
    .filter(({ reserved, limit }) => reserved > limit)
    .map(({ reserved, limit }) => `${reserved} of ${limit} were reserved`);

/** Each value is later than the one before it, for all pairs of requests that did not overlap. */
function goingBackwards(history: History): string[] {
  const stamped = of(history, "write", "read").filter(isAcknowledged);
  return [...Map.groupBy(stamped, ({ deed }) => deed.row)].flatMap(([row, all]) => {
    const inOrder = all.toSorted((one, other) => one.doneMs - other.doneMs);
    return inOrder.flatMap((later, index) => {
      const before = inOrder.slice(0, index).filter((earlier) => earlier.doneMs < later.sentMs);
      return before.flatMap((earlier) => backwards(row, earlier, later)).slice(0, 1);
    });
  });
}

function backwards(row: string, earlier: Of<"write" | "read">, later: Of<"write" | "read">): string[] {
  const [one, two] = [earlier.deed, later.deed];
  const isWrite = two.did === "write";
  if (
    one.updatedAt &&
    two.updatedAt &&
    (isWrite ? one.updatedAt >= two.updatedAt : one.updatedAt > two.updatedAt)
  )
    return [`${row} was updated at ${one.updatedAt} and then at ${two.updatedAt}`];
  if (one.did !== "read" || two.did !== "read" || two.lastUsedAt === undefined) return [];
  return (one.lastUsedAt ?? "") > (two.lastUsedAt ?? "")
    ? [`${row} was last used at ${one.lastUsedAt}, and then at ${two.lastUsedAt}`]
    : [];
}

/** No 5xx except a 503 with Retry-After, no broken connection and no wait, unless a fault is on that shows so. */
function unexplainedFailures(history: History): string[] {
  const isExplained = ({ at, sentMs, doneMs }: Entry, shows: Fault["shows"][number]): boolean =>
    history.faults.some(
      (fault) =>
        fault.shows.includes(shows) &&
        (fault.at === undefined || fault.at === at) &&
        fault.fromMs <= doneMs &&
        fault.toMs + RECOVER_WITHIN_MS >= sentMs,
    );
  return history.entries.flatMap((entry) => {
    const { at, status, retryAfter, deed } = entry;
    const tookMs = entry.doneMs - entry.sentMs;
    const isExcused = isStarved(history, entry.sentMs, entry.doneMs);
    if (tookMs > DEADLINE_MS && !isExcused && !isExplained(entry, "paused"))
      return [`${at} took ${(tookMs / 1000).toFixed(1)} s for ${deed.did}`];
    if (status === undefined) return isExplained(entry, "broken") ? [] : [`${at} did not answer ${deed.did}`];
    if (status < 500) return [];
    if (status !== 503 || !retryAfter) return [`${at} answered ${status} without Retry-After to ${deed.did}`];
    return isExcused || isExplained(entry, "unavailable")
      ? []
      : [`${at} answered 503 to ${deed.did} without a fault`];
  });
}

const secretsLogged = ({ logs, secrets }: History): string[] =>
  secrets.filter((secret) => logs.includes(secret)).map((secret) => `a log line has ${secret.slice(0, 6)}…`);

const checks: readonly [string, (history: History) => string[]][] = [
  ["I1", codesUsedTwice],
  ["I2", lostWrites],
  ["I2", lostThings],
  ["I3", strangeTokens],
  ["I4", revokedAndServed],
  ["I5", customersMadeTwice],
  ["I6", floorsRefused],
  ["I6", limitExceeded],
  ["I7", reservedTooMuch],
  ["I8", goingBackwards],
  ["I9", unexplainedFailures],
  ["I10", secretsLogged],
];

export type Summary = {
  sent: number;
  acknowledged: number;
  /** 503, or no answer. */
  failed: number;
  lost: number;
  refusedByFloor: number;
  recoverySeconds: number;
};

export const summarise = (history: History): Summary => ({
  sent: history.entries.length,
  acknowledged: history.entries.filter(isAcknowledged).length,
  failed: history.entries.filter(isInDoubt).length,
  lost: lostWrites(history).length + lostThings(history).length,
  refusedByFloor: floorsRefused(history).length,
  recoverySeconds: Math.max(0, ...history.faults.map((fault) => recoverySeconds(history, fault))),
});

/** The time from the end of the cause to the last failed request, and to each instance's report that it is well. */
function recoverySeconds({ entries, looks, faults }: History, fault: Fault): number {
  const next = Math.min(
    ...faults.filter(({ fromMs }) => fromMs > fault.toMs).map(({ fromMs }) => fromMs),
    Number.POSITIVE_INFINITY,
  );
  const isOf = ({ at }: { at: string }) => fault.at === undefined || fault.at === at;
  const isAfter = (ms: number) => ms > fault.toMs && ms < next;
  const failedMs = entries
    .filter((entry) => isInDoubt(entry) && isOf(entry) && isAfter(entry.doneMs))
    .map(({ doneMs }) => doneMs);
  const ofEach = Map.groupBy(
    looks.filter((look) => isOf(look) && isAfter(look.sentMs)),
    ({ at }) => at,
  );
  const wellMs = [...ofEach.values()].map((all) => {
    const first = all.findIndex(({ isWell }) => isWell);
    // The read before the first good one was the last bad one.
    return all[first === -1 ? all.length - 1 : first - 1]?.sentMs ?? fault.toMs;
  });
  return Math.max(0, ...[...failedMs, ...wellMs].map((ms) => (ms - fault.toMs) / 1000));
}
