import { isIP } from "node:net";
import { operatorFault } from "./lib/operator-fault.ts";

/** The environment, read once and checked as a whole: every fault is reported, not only the first. */
export type Config = {
  host: string;
  port: number;
  publicUrl: string;
  databaseUrl: string;
  masterKeys: Buffer[];
  allowedOrigins: string[];
  trustedProxies: string[];
  customerTokenSeconds: number;
  codeSeconds: number;
  recordDays: number;
  logLevel: string;
};

type Environment = Record<string, string | undefined>;
type Variable = { name: string; meaning: string; default: string };

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"];

/** What `latchkey serve --help` lists. */
export const variables: readonly Variable[] = [
  { name: "PORT", meaning: "port to listen on", default: "4000" },
  { name: "HOST", meaning: "address to listen on", default: "127.0.0.1" },
  { name: "LATCHKEY_PUBLIC_URL", meaning: "base of every URL we emit", default: "http://localhost:$PORT" },
  {
    name: "LATCHKEY_DATABASE_URL",
    meaning: "sqlite:<path>, sqlite::memory: or postgres://…",
    default: "sqlite:./data/latchkey.db",
  },
  {
    name: "LATCHKEY_MASTER_KEY",
    meaning: "32 bytes in base64url; several, comma-separated: the first makes, all open",
    default: "none; serve needs one, dev keeps its own beside the database",
  },
  {
    name: "LATCHKEY_EGRESS_ALLOW",
    meaning:
      "comma-separated origins of identity providers that may be asked although they are http or not public",
    default: "none",
  },
  {
    name: "LATCHKEY_TRUST_PROXY",
    meaning: "comma-separated networks (CIDR) whose X-Forwarded-For is believed",
    default: "none",
  },
  { name: "LATCHKEY_CUSTOMER_TOKEN_SECONDS", meaning: "how long a customer token lives", default: "86400" },
  {
    name: "LATCHKEY_CODE_SECONDS",
    meaning: "how long a storefront may take to redeem a code",
    default: "60",
  },
  { name: "LATCHKEY_SIGN_ON_RECORD_DAYS", meaning: "how long records of sign-ons are kept", default: "30" },
  { name: "LATCHKEY_LOG_LEVEL", meaning: LOG_LEVELS.join(", "), default: "info" },
];

export function readConfig(env: Environment): Config {
  const faults: string[] = [];
  const read = <T>(name: string, fallback: string, parse: (text: string) => T): T | undefined => {
    try {
      return parse(env[name] || fallback);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
      return undefined;
    }
  };
  const port = read("PORT", "4000", parsePort);
  const config = {
    host: env.HOST || "127.0.0.1",
    port,
    publicUrl: read("LATCHKEY_PUBLIC_URL", `http://localhost:${port ?? 4000}`, parsePublicUrl),
    databaseUrl: read("LATCHKEY_DATABASE_URL", DEFAULT_DATABASE_URL, parseDatabaseUrl),
    masterKeys: read("LATCHKEY_MASTER_KEY", "", parseMasterKeys),
    allowedOrigins: read("LATCHKEY_EGRESS_ALLOW", "", parseOrigins),
    trustedProxies: read("LATCHKEY_TRUST_PROXY", "", parseNetworks),
    customerTokenSeconds: read("LATCHKEY_CUSTOMER_TOKEN_SECONDS", "86400", parseWhole(60, 31_536_000)),
    codeSeconds: read("LATCHKEY_CODE_SECONDS", "60", parseWhole(5, 600)),
    recordDays: read("LATCHKEY_SIGN_ON_RECORD_DAYS", "30", parseWhole(1, 3650)),
    logLevel: read("LATCHKEY_LOG_LEVEL", "info", parseLogLevel),
  };
  if (faults.length > 0)
    throw operatorFault(
      `the configuration cannot be used:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
  return config as Config;
}

export const DEFAULT_DATABASE_URL = "sqlite:./data/latchkey.db";

/** Commands that only touch the database need nothing else to be configured. */
export function readDatabaseUrl(env: Environment): string {
  try {
    return parseDatabaseUrl(env.LATCHKEY_DATABASE_URL || DEFAULT_DATABASE_URL);
  } catch (error) {
    throw operatorFault(`LATCHKEY_DATABASE_URL ${(error as Error).message}`);
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new Error("must be a port number from 1 to 65535");
  return port;
}

const parseWhole =
  (min: number, max: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^\d{1,9}$/.test(text) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return number;
  };

function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new Error("must be an absolute http or https URL");
  if (url.search || url.hash || url.username || url.password) {
    throw new Error("must have no query, fragment or user information");
  }
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol === "http:" && !isLocal) throw new Error("must be https, unless it is on localhost");
  return url.href.replace(/\/+$/, "");
}

function parseDatabaseUrl(text: string): string {
  if (/^sqlite:.+/.test(text)) return text;
  if (/^postgres(ql)?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new Error("must be sqlite:<path>, sqlite::memory: or postgres://…");
}

function parseMasterKeys(text: string): Buffer[] {
  if (text === "")
    throw new Error("is not set. Make one: openssl rand -base64 32 | tr '+/' '-_' | tr -d '='");
  return text.split(",").map((part) => {
    const key = Buffer.from(part.trim(), "base64url");
    if (!/^[A-Za-z0-9_-]{43}=?$/.test(part.trim()) || key.length !== 32) {
      throw new Error(
        "must be 32 bytes in base64url (43 characters), or several of them separated by commas",
      );
    }
    return key;
  });
}

export function parseOrigins(text: string): string[] {
  const origins = splitList(text);
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin || !/^https?:/.test(origin)) {
      throw new Error("must be origins such as http://127.0.0.1:9000, separated by commas");
    }
  }
  return origins;
}

const splitList = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function parseNetworks(text: string): string[] {
  const networks = splitList(text);
  for (const network of networks) {
    const [address = "", bits, ...rest] = network.split("/");
    const most = isIP(address) === 4 ? 32 : 128;
    const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    if (isIP(address) === 0 || !fits || rest.length > 0) {
      throw new Error("must be networks such as 10.0.0.0/8 or fd00::/8, separated by commas");
    }
  }
  return networks;
}

function parseLogLevel(text: string): string {
  if (!LOG_LEVELS.includes(text)) throw new Error(`must be one of ${LOG_LEVELS.join(", ")}`);
  return text;
}
