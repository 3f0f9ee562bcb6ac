import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type pg from "pg";
import { cameSecond, isUniqueViolation } from "../failures.ts";
import type { PostponingConnection, PreparedQuery } from "../statement.ts";
import { type AskedStatement, type StatementOutcome, sendTogether } from "./batch.ts";
import {
  aborted,
  answered,
  codeOf,
  isAborted,
  isNameRefused,
  isSilence,
  isUndone,
  leavesInDoubt,
} from "./errors.ts";
import type { PlanNames } from "./plan-names.ts";
import { closeSocket, LIMITS, setLimits } from "./session.ts";
import { types } from "./types.ts";

type Options = {
  /** Without limits of time, for migrations. A text may then hold several statements, so each is sent by itself. */
  patient: boolean;
  slack: number;
  isPooled: boolean;
  names: PlanNames;
  onHeard(atMs: number): void;
  onSilent(): void;
};

/** A statement of this turn of the event loop, which is sent at its end. */
type WaitingStatement = AskedStatement & { settle(outcome: NonNullable<StatementOutcome>): void };

/**
 * A connection of the pool. The statements that a transaction asks for in one turn of the event loop travel together,
 * in the order of the calls; its `begin` goes with the first of them. A statement outside a transaction is sent at
 * once.
 */
export class PooledConnection implements DatabaseConnection, PostponingConnection {
  heardAtMs = performance.now();
  takenAtMs = 0;
  readonly #client: pg.PoolClient;
  readonly #options: Options;
  #transaction: "none" | "to begin" | "open" = "none";
  #turn: WaitingStatement[] = [];
  #unanswered = 0;
  #isLost = false;
  /** A statement of the open transaction has failed, and the server refuses all others. */
  #hasFailed = false;
  /** The error of an `executeLater` statement; the next statement throws it. */
  #laterFailure: unknown;

  constructor(client: pg.PoolClient, options: Options) {
    this.#client = client;
    this.#options = options;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return toQueryResult<R>(await this.#run(query));
    } catch (error) {
      // The stack of the caller instead of that of the socket's reader: a log shows the first lines alone.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw this.#causeOf(error);
    }
  }

  async executeLater(query: CompiledQuery): Promise<void> {
    if (this.#transaction === "none") await this.executeQuery(query);
    else
      this.#waitForTurn(this.#askedBy(query), ({ error }) => {
        if (error !== undefined && !isAborted(error)) this.#laterFailure ??= error;
      });
  }

  // biome-ignore lint/correctness/useYield: no caller reads a result piece by piece.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("statements are not streamed");
  }

  /** Returns to the pool only if the server's last word was "idle, no transaction" and nothing is unanswered. */
  release(isDiscarded = false): void {
    const isIdle = this.#unanswered === 0 && this.#turn.length === 0;
    const isAtRest = !this.#isLost && isIdle && this.#client.getTransactionStatus() === "I";
    this.#client.release(isDiscarded || !isAtRest);
  }

  #run(query: CompiledQuery): Promise<pg.QueryResult> {
    const { sql, parameters } = query;
    if (this.#options.patient) return this.#client.query(sql, parameters as unknown[]);
    if (sql === "begin") return this.#begin();
    if (sql === "commit") return this.#commit();
    if (sql === "rollback") return this.#rollback();
    return this.#transaction === "none" ? this.#runAlone(query) : this.#runInTurn(this.#askedBy(query));
  }

  async #begin(): Promise<pg.QueryResult> {
    this.#transaction = "to begin";
    this.#laterFailure = undefined;
    return NOTHING;
  }

  async #commit(): Promise<pg.QueryResult> {
    const hasBegun = this.#transaction === "open" || this.#turn.length > 0;
    const result = hasBegun ? await this.#runInTurn(this.#frame("commit")) : NOTHING;
    this.#end();
    // The server's answer to the commit of a transaction in which a statement has failed.
    if (result.command === "ROLLBACK") throw aborted();
    return result;
  }

  async #rollback(): Promise<pg.QueryResult> {
    const hasBegun = this.#transaction === "open" || this.#turn.length > 0;
    const send = () => this.#runInTurn(this.#frame("rollback"));
    // The server skips a rollback that travels with a statement that fails, so it is sent once more. Without an answer
    // the connection is closed, and the server undoes the transaction. The caller has the error that led here.
    if (hasBegun)
      await send()
        .catch(send)
        .catch(() => {
          this.#isLost = true;
        });
    this.#end();
    return NOTHING;
  }

  #end(): void {
    this.#transaction = "none";
    this.#hasFailed = false;
  }

  #runInTurn(asked: AskedStatement): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) =>
      this.#waitForTurn(asked, ({ error, result }) => (result ? resolve(result) : reject(error))),
    );
  }

  #waitForTurn(asked: AskedStatement, settle: WaitingStatement["settle"]): void {
    // Runs when all promises that are settled by now have called their callers.
    if (this.#turn.length === 0) process.nextTick(() => this.#sendTurn());
    this.#turn.push({ ...asked, settle });
  }

  async #sendTurn(): Promise<void> {
    const turn = this.#turn;
    this.#turn = [];
    const opening = this.#transaction === "to begin" ? this.#opening() : [];
    this.#transaction = "open";
    const outcomes = await this.#ask([...opening, ...turn]);
    const failedAt = outcomes.findIndex((outcome) => outcome?.error !== undefined);
    const error = outcomes[failedAt]?.error;
    const isFirst = failedAt < opening.length || leavesInDoubt(error);
    for (const [at, { settle }] of turn.entries())
      settle(outcomes[opening.length + at] ?? { error: isFirst ? error : aborted(error) });
  }

  /** Behind a pooler each transaction has another server process, whose limits end with it. */
  #opening(): AskedStatement[] {
    const { isPooled, slack } = this.#options;
    const begin = this.#frame("begin");
    return isPooled ? [begin, { text: setLimits(slack, true), values: [], name: undefined }] : [begin];
  }

  #frame(text: "begin" | "commit" | "rollback"): AskedStatement {
    return { text, values: [], name: this.#nameOf(`latchkey_${text}`) };
  }

  #askedBy({ sql, parameters, planName }: PreparedQuery): AskedStatement {
    return { text: sql, values: parameters, name: this.#nameOf(planName) };
  }

  #nameOf(name: string | undefined): string | undefined {
    return this.#options.isPooled ? undefined : this.#options.names.of(name);
  }

  /** A statement that the server has undone, after a deadlock or a refused name, is sent again without its name. */
  async #runAlone(query: CompiledQuery): Promise<pg.QueryResult> {
    const asked = this.#askedBy(query);
    const send = this.#options.isPooled ? this.#sendLimited : this.#sendAlone;
    try {
      return await send.call(this, asked);
    } catch (error) {
      if (!isUndone(error)) throw error;
      return send.call(this, { ...asked, name: undefined });
    }
  }

  async #sendAlone(asked: AskedStatement): Promise<pg.QueryResult> {
    const [outcome] = await this.#ask([asked]);
    if (!outcome?.result) throw outcome?.error;
    return outcome.result;
  }

  /** Behind a pooler, limits need a transaction around the statement. Both packets take one round trip. */
  async #sendLimited(asked: AskedStatement): Promise<pg.QueryResult> {
    const sent = this.#ask([...this.#opening(), asked]);
    // Ends the transaction also after a statement that failed.
    const ended = this.#ask([this.#frame("commit")]);
    const [outcomes, [end]] = await Promise.all([sent, ended]);
    const error = outcomes.find((outcome) => outcome?.error !== undefined)?.error ?? end?.error;
    if (error !== undefined) throw error;
    return outcomes.at(-1)?.result ?? NOTHING;
  }

  /** Never rejects. The first outcome with an error is the last that the server has sent. */
  async #ask(asked: readonly AskedStatement[]): Promise<StatementOutcome[]> {
    if (this.#isLost)
      return [{ error: new Error("Connection terminated: the last statement had no answer") }];
    this.#unanswered++;
    const sent = sendTogether(this.#client, asked, types);
    const outcomes = await answered(sent, LIMITS.answerMs * this.#options.slack).catch(
      (error): StatementOutcome[] => [{ error }],
    );
    this.#unanswered--;
    const failedAt = outcomes.findIndex((outcome) => outcome?.error !== undefined);
    if (failedAt < 0) this.#hear();
    else this.#judge(outcomes[failedAt]?.error, asked[failedAt]?.name);
    return outcomes;
  }

  #judge(error: unknown, name: string | undefined): void {
    this.#isLost ||= leavesInDoubt(error);
    // Closes it now, not at release, so that the server rolls back sooner.
    if (this.#isLost) closeSocket(this.#client);
    if (isSilence(error)) this.#options.onSilent();
    else if (codeOf(error) !== undefined) this.#hear();
    // After a failure the server may have skipped the Parse that a later statement of the transaction relies on.
    if (name !== undefined && isNameRefused(error) && !this.#hasFailed)
      this.#options.names.distrust(name, error);
    this.#hasFailed = this.#transaction !== "none";
  }

  #hear(): void {
    this.heardAtMs = performance.now();
    this.#options.onHeard(this.heardAtMs);
  }

  /**
   * A transaction that fails by a statement of `executeLater` fails with that statement's error. A unique index that
   * refused its row means that another transaction came first, so `transact` tries again.
   */
  #causeOf(error: unknown): unknown {
    const failure = this.#laterFailure;
    if (!isAborted(error) || failure === undefined) return error;
    return isUniqueViolation(failure) ? cameSecond(failure) : failure;
  }
}

const NOTHING = { command: "", rowCount: 0, oid: 0, fields: [], rows: [] } satisfies pg.QueryResult;

const WRITES = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

const toQueryResult = <R>({ command, rowCount, rows }: pg.QueryResult): QueryResult<R> =>
  WRITES.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0), rows } : { rows };
