import type { Answer, HttpClient } from "../load/http-client.ts";
import type { Samples } from "../seeding/seed.ts";

/** A running server, and the ids and secrets that requests to it need. */
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
  /** From the grant client_credentials. */
  accessToken: string;
  implicitToken: string;
  customer: { id: string; token: string; email: string; password: string };
  /** Some rows of a seeded database. */
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

/** A request, or a chain of requests, that is sent again and again. A wrong answer throws and ends the run. */
export type Workload = {
  name: string;
  /** For readers of the results. */
  means: string;
  /** Contestants besides Latchkey and the limit. */
  others: readonly Contestant[];
  goals?: readonly Goal[];
  concurrency: number;
  /** The service writes something after the answer; the round includes these writes. */
  isRecorded?: true;
  /** Operations in a round, for a workload with a stock. Without `count` a round has a length in seconds. */
  count?: number;
  drive(target: Target): Drive;
};

/**
 * Latchkey should reach at least this share of the contestant's operations per CPU second: 0.6 is 60 %, 3.5 is 3.5
 * times as many.
 */
export type Goal = { against: Contestant; share: number };

export type Drive<T = unknown> = {
  /** Makes the input of one operation before the measurement begins. */
  stock?(client: HttpClient): Promise<T>;
  operate(client: HttpClient, stocked: T): Promise<void>;
};

/** Checks that `operate` takes the type that `stock` makes. */
export const drive = <T>(of: Drive<T>): Drive => of as Drive;

/** Throws unless the answer has this status and its body includes `text`. */
export function expectAnswer(answer: Answer, status: number, text = ""): Answer {
  if (answer.status === status && answer.body.includes(text)) return answer;
  throw new Error(
    `expected ${status} with ${JSON.stringify(text)}, got ${answer.status}: ${answer.body.slice(0, 500)}`,
  );
}

let visits = 0;

/** A header with another address for every request, so that no limit per source refuses a request. */
export function source(): Record<string, string> {
  visits = (visits + 1) % 16_384;
  return { "X-Forwarded-For": `10.9.${visits >> 8}.${visits & 255}` };
}

export const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });
