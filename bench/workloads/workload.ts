import type { Answer, HttpClient } from "../load/http-client.ts";
import type { Samples } from "../seeding/seed.ts";

/** Whom a workload is sent to: a running server, and what has to be known of it to speak with it. */
export type Target = {
  contestant: Contestant;
  url: string;
  idp: string;
  storeId: string;
  realmId: string;
  profileId: string;
  keyId: string;
  clientId: string;
  clientSecret: string;
  /** Of the grant client_credentials. */
  accessToken: string;
  implicitToken: string;
  customer: { id: string; token: string; email: string; password: string };
  /** Of a database that was seeded: some of what is in it. */
  samples?: Samples;
};

export type Contestant =
  | "latchkey"
  | "before"
  | "limit"
  | "hono"
  | "argon2"
  | "better-auth"
  | "oidc-provider"
  | "dex-memory"
  | "dex-sqlite";
export type Engine = "sqlite" | "postgres";

/** One kind of request, or a chain of them, that is sent over and over. A wrong answer throws, and fails the run. */
export type Workload = {
  name: string;
  /** What it stands for, for whoever reads the table. */
  means: string;
  /** Servers to compare with, beside the limit, which every workload has. Those without a database run once. */
  others: readonly Contestant[];
  goals?: readonly Goal[];
  concurrency: number;
  /** Something is written after the answer: the clock runs until that is done. */
  isRecorded?: true;
  /** So many in a round, where each needs something that is made beforehand; otherwise what fits into its time. */
  count?: number;
  drive(target: Target): Drive;
};

/** At least this share of the other's operations per CPU second: 0.6 is 60 %, 3.5 is three and a half times as many. */
export type Goal = { against: Contestant; share: number };

export type Drive<T = unknown> = {
  /** What one operation needs, made before the clock runs. */
  stock?(client: HttpClient): Promise<T>;
  operate(client: HttpClient, stocked: T): Promise<void>;
};

/** Keeps what `stock` makes and what `operate` takes the same type. */
export const drive = <T>(of: Drive<T>): Drive => of as Drive;

/** The answer, if it has the right status and says what such an answer says. */
export function expectAnswer(answer: Answer, status: number, says = ""): Answer {
  if (answer.status === status && answer.body.includes(says)) return answer;
  throw new Error(
    `expected ${status} with ${JSON.stringify(says)}, got ${answer.status}: ${answer.body.slice(0, 500)}`,
  );
}

let visits = 0;

/** Each visit from another address, as behind a proxy: the limits for one source are not what is measured. */
export function source(): Record<string, string> {
  visits = (visits + 1) % 16_384;
  return { "X-Forwarded-For": `10.9.${visits >> 8}.${visits & 255}` };
}

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });
