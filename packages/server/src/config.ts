import { z } from "zod";
import { isAllowedOrigin } from "./lib/allowed-origins.ts";
import { isLocalUrl } from "./lib/local-url.ts";
import { LOG_LEVELS } from "./lib/log.ts";
import { operatorFault, usageFault } from "./lib/operator-fault.ts";
import { withoutSlashes } from "./lib/slashes.ts";
import { DEFAULT_CONNECTIONS } from "./storage/storage.ts";

/** Reads and checks the environment once, and reports every fault together. */

type Environment = Record<string, string | undefined>;
type Variable<S extends z.ZodType> = {
  name: string;
  meaning: string;
  shape: S;
  /** The value of a variable that is not set or empty. */
  fallback: string | undefined;
  /** The explanation in `latchkey serve --help`. */
  default: string;
  /** The value is or contains a secret, so an error does not show it. */
  isSecret?: true;
};

const variable = <S extends z.ZodType>(
  name: string,
  shape: S,
  fallback: string | undefined,
  meaning: string,
  words = fallback,
): Variable<S> => ({ name, shape, fallback, meaning, default: words || "none" });

const secret = <V extends object>(described: V): V & { isSecret: true } => ({ ...described, isSecret: true });

const text = (isRight: (text: string) => boolean, error: string) => z.string().refine(isRight, { error });

const whole = (min: number, max: number, error = `must be a whole number from ${min} to ${max}`) =>
  text((given) => /^\d{1,9}$/.test(given) && Number(given) >= min && Number(given) <= max, error).transform(
    Number,
  );
const port = whole(1, 65_535, "must be a port number from 1 to 65535");

const splitList = (given: string): string[] =>
  given
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
const listOf = (one: z.ZodType<string, string>) => z.string().transform(splitList).pipe(z.array(one));

const publicUrl = z
  .url({ protocol: /^https?$/, error: "must be an absolute http or https URL" })
  .transform((given) => new URL(given))
  .refine(({ search, hash, username, password }) => !(search || hash || username || password), {
    error: "must have no query, fragment or user information",
  })
  .refine((url) => url.protocol === "https:" || isLocalUrl(url), {
    error: "must be https, unless it is on localhost",
  })
  .transform(({ href }) => withoutSlashes(href));

export const DEFAULT_DATABASE_URL = "sqlite:./data/latchkey.db";
const isPostgresUrl = (given: string): boolean => /^postgres(ql)?:\/\/./.test(given) && URL.canParse(given);
/**
 * libpq accepts a URL with a user and no host, because `?host=` names the folder of a socket. URL parsers refuse it.
 */
const withHost = (given: string): string =>
  given.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/, "$1localhost");

/** Malformed percent-encoding, mostly in a password. The drivers would throw on it. */
const isDecodable = (given: string): boolean => {
  try {
    decodeURIComponent(given);
    return true;
  } catch {
    return false;
  }
};
const UNDECODABLE = { error: "has a % that stands for no character: write it as %25" };
/** PostgreSQL's driver takes a % without two hexadecimal digits literally. */
const isDecodableByPostgres = (given: string): boolean =>
  given.startsWith("sqlite:") || isDecodable(given.replaceAll(/%(?![\da-f]{2})/gi, "%25"));

/** SQLite reads `file:` as a URI, and would open another file than the one that Latchkey locks and protects. */
const databaseUrl = z
  .string()
  .transform(withHost)
  .refine((given) => /^sqlite:(?!file:)./.test(given) || isPostgresUrl(given), {
    error: "must be sqlite:<path>, sqlite::memory: or postgres://…",
  })
  .refine(isDecodableByPostgres, UNDECODABLE)
  // A carriage return comes from a file with Windows line ends, and is invisible in most output.
  .refine((given) => !given.startsWith("sqlite:") || given === given.trimEnd(), {
    error: "ends with a blank or a carriage return, which would be part of the file's name",
  });
const directUrl = z
  .string()
  .transform(withHost)
  .refine(isPostgresUrl, { error: "must be postgres://…" })
  .refine(isDecodableByPostgres, UNDECODABLE);

const valkeyUrls = listOf(
  text(
    (given) => /^rediss?:\/\/./.test(given) && URL.canParse(given) && new URL(given).hostname !== "",
    "must be redis://host:port or rediss://host:port, several of them separated by commas for a cluster",
  ).refine(isDecodable, UNDECODABLE),
).refine((urls) => new Set(urls.map((url) => url.startsWith("rediss:"))).size <= 1, {
  error: "must be redis:// or rediss:// throughout",
});

const masterKeys = z
  .string({ error: "is not set. Make one: openssl rand -base64 32 | tr '+/' '-_' | tr -d '='" })
  .transform((given) => given.split(",").map((part) => part.trim()))
  .refine((parts) => parts.every((part) => /^[\w-]{43}=?$/.test(part)), {
    error: "must be 32 bytes in base64url (43 characters), or several of them separated by commas",
  })
  .transform((parts) => parts.map((part) => Buffer.from(part, "base64url")));

export const isMasterKey = (given: string): boolean => masterKeys.safeParse(given).success;

const allowedOrigin = text(
  isAllowedOrigin,
  "must be origins such as http://127.0.0.1:9000, separated by commas, each with idp=, webhook=, a store's id and =, or <store>/idp= before it where it is not for all",
);
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: "must be networks such as 10.0.0.0/8 or fd00::/8, separated by commas",
});

/** As OTEL_EXPORTER_OTLP_ENDPOINT: the collector's base URL; OTLP defines the path for traces. */
const otlpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL such as http://127.0.0.1:4318" })
  .transform((given) => new URL(given))
  .refine(({ search, hash }) => !(search || hash), { error: "must have no query and no fragment" })
  .transform((url) =>
    url.pathname.endsWith("/v1/traces") ? url.href : `${withoutSlashes(url.href)}/v1/traces`,
  );

const logLevel = z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` });

// biome-ignore format: one variable a line
const table = {
  host: variable("HOST", z.string(), "127.0.0.1", "address to listen on"),
  port: variable("PORT", port, "4000", "port to listen on"),
  operationsPort: variable("LATCHKEY_OPERATIONS_PORT", port.optional(), undefined, "port for /health and /metrics, which PORT then no longer answers", "none: they are on PORT"),
  publicUrl: variable("LATCHKEY_PUBLIC_URL", publicUrl, "http://localhost:$PORT", "base of every URL that Latchkey writes"),
  databaseUrl: secret(variable("LATCHKEY_DATABASE_URL", databaseUrl, DEFAULT_DATABASE_URL, "sqlite:<path>, sqlite::memory: or postgres://…")),
  valkeyUrls: secret(variable("LATCHKEY_VALKEY_URL", valkeyUrls, "", "redis://… or rediss://…: the Valkey or Redis in which all instances count together; several, comma-separated, for a cluster", "none: each instance counts for itself")),
  databasePool: variable("LATCHKEY_DATABASE_POOL", whole(1, 1000), String(DEFAULT_CONNECTIONS), "connections to PostgreSQL at most, of each process"),
  databaseDirectUrl: secret(variable("LATCHKEY_DATABASE_DIRECT_URL", directUrl.optional(), undefined, "the same PostgreSQL with no pooler between, to hear of other instances' changes", "none: LATCHKEY_DATABASE_URL")),
  masterKeys: secret(variable("LATCHKEY_MASTER_KEY", masterKeys, undefined, "32 bytes in base64url; several, comma-separated: the first one seals new values, any of them can open old ones", "none; serve needs one, dev keeps its own beside the database")),
  allowedOrigins: variable("LATCHKEY_EGRESS_ALLOW", listOf(allowedOrigin), "", "comma-separated origins of identity providers and webhooks that may be asked although they are http or not public; idp=, webhook= or <store id>= before one bounds it"),
  trustedProxies: variable("LATCHKEY_TRUST_PROXY", listOf(network), "", "comma-separated networks (CIDR) whose X-Forwarded-For is believed"),
  customerTokenSeconds: variable("LATCHKEY_CUSTOMER_TOKEN_SECONDS", whole(60, 31_536_000), "86400", "how long a customer token lives"),
  codeSeconds: variable("LATCHKEY_CODE_SECONDS", whole(5, 600), "60", "how long a storefront may take to redeem a code"),
  recordDays: variable("LATCHKEY_SIGN_ON_RECORD_DAYS", whole(1, 3650), "30", "how long records of sign-ons are kept"),
  otlpUrl: secret(variable("LATCHKEY_OTLP_URL", otlpUrl.optional(), undefined, "collector that traces are sent to (OpenTelemetry, OTLP over HTTP), e.g. http://127.0.0.1:4318")),
  eventDays: variable("LATCHKEY_EVENT_DAYS", whole(1, 3650), "90", "how long events are kept in a store's log"),
  logLevel: variable("LATCHKEY_LOG_LEVEL", logLevel, "info", LOG_LEVELS.join(", ")),
};

export type Config = { [K in keyof typeof table]: z.output<(typeof table)[K]["shape"]> };

/** The variables that `latchkey serve --help` lists. */
export const variables: readonly Variable<z.ZodType>[] = Object.values(table);

/** `findKeptKey` finds the file with the master key that an earlier command has made for a database. */
export function readConfig(
  env: Environment,
  findKeptKey: (databaseUrl: string) => string | undefined = () => undefined,
): Config {
  const faults: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, known] of Object.entries(table)) {
    const given = env[known.name] || known.fallback?.replace("$PORT", String(config.port ?? ""));
    const { data, error } = known.shape.safeParse(given);
    config[key] = data;
    const isKeyUnset = known === table.masterKeys && given === undefined;
    const keptKey = isKeyUnset && config.databaseUrl ? findKeptKey(config.databaseUrl as string) : undefined;
    if (keptKey !== undefined)
      faults.push(
        `${known.name} is not set. The key of this database is in ${keptKey}: export ${known.name}=$(cat '${keptKey}')`,
      );
    else if (error) faults.push(faultOf(known, given, error));
  }
  if (config.operationsPort !== undefined && config.operationsPort === config.port)
    faults.push("LATCHKEY_OPERATIONS_PORT must be another port than PORT");
  refuseFaults(faults);
  return config as Config;
}

/** Reads one variable, so that a command does not require the others. */
function readOne<S extends z.ZodType>(known: Variable<S>, env: Environment): z.output<S> {
  const given = env[known.name] || known.fallback;
  const { data, error } = known.shape.safeParse(given);
  refuseFaults(error ? [faultOf(known, given, error)] : []);
  return data as z.output<S>;
}

const SHOWN = 100;

/** Quotes the value, so that a typing error is visible. User information and query of a URL are left out. */
function faultOf(
  { name, isSecret }: Variable<z.ZodType>,
  given: string | undefined,
  error: z.ZodError,
): string {
  const fault = `${name} ${error.issues[0]?.message}`;
  if (isSecret || given === undefined) return fault;
  const shown = given.replaceAll(/\S+/g, withoutUser).replaceAll(/\?[^\s,]*/g, "?…");
  return `${fault}; it is ${JSON.stringify(shown.length > SHOWN ? `${shown.slice(0, SHOWN)}…` : shown)}`;
}

function withoutUser(url: string): string {
  const [from, to] = [url.indexOf("//"), url.lastIndexOf("@")];
  return from >= 0 && to > from ? `${url.slice(0, from)}//…${url.slice(to)}` : url;
}

/** The configuration without a master key, for commands that seal and open nothing. */
export const readOpenConfig = (env: Environment): Omit<Config, "masterKeys"> =>
  readConfig({ ...env, LATCHKEY_MASTER_KEY: "A".repeat(43) });

/** Checks a database URL from a command's option, by the same rule as the variable. */
export function readDatabaseUrlOf(name: string, given: string): string {
  const { data, error } = databaseUrl.safeParse(given);
  if (error) throw usageFault(faultOf({ ...table.databaseUrl, name }, given, error));
  return data;
}

export const readDatabaseUrl = (env: Environment): string => readOne(table.databaseUrl, env);
export const readPublicUrl = (env: Environment): string => {
  const fallback = `http://localhost:${readOne(table.port, env)}`;
  return readOne({ ...table.publicUrl, fallback }, env);
};
export const readEventDays = (env: Environment): number => readOne(table.eventDays, env);
export const readAllowedOrigins = (env: Environment): string[] => readOne(table.allowedOrigins, env);

function refuseFaults(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const lines = faults.map((fault) => `  - ${fault}`).join("\n");
  throw operatorFault(`the configuration cannot be used:\n${lines}`);
}
