import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Made } from "../../e2e/support/running.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { SHOP } from "../workloads/steps.ts";
import type { Contestant, Target } from "../workloads/workload.ts";
import { type Process, startProcess } from "./process.ts";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
const PASSWORD = "correct horse battery staple";

type Options = {
  databaseUrl: string;
  idp: string;
  contestant?: Contestant;
  checkout?: string;
  /** Arguments of `latchkey serve`. */
  args?: string[];
  /** Replaces variables of `envOf`. */
  env?: Record<string, string>;
};

/** Starts the service as an operator does, behind a proxy, with a store whose rate limit no workload reaches. */
export async function startLatchkey(options: Options): Promise<{ server: Process; target: Target }> {
  const { databaseUrl, idp, contestant = "latchkey", checkout = HERE, args = [] } = options;
  const env = { ...envOf(databaseUrl, idp), ...options.env };
  const made = await createStore(env, checkout);
  const { server, url } = await serveLatchkey(env, { program: commandOf(checkout), args });
  return { server, target: { ...(await targetOf(url, idp, made)), contestant } };
}

const commandOf = (checkout: string): string => join(checkout, "packages/server/bin/latchkey.js");

/** Runs `latchkey store create`, which also creates the tables. */
export async function createStore(env: Record<string, string>, checkout = HERE): Promise<Made> {
  const args = ["store", "create", "--name", "Bench", "--rate-limit", "1000000", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, [commandOf(checkout), ...args], { env });
  return JSON.parse(stdout);
}

export const envOf = (databaseUrl: string, idp: string): Record<string, string> => ({
  LATCHKEY_DATABASE_URL: databaseUrl,
  LATCHKEY_MASTER_KEY: randomBytes(32).toString("base64url"),
  LATCHKEY_EGRESS_ALLOW: idp,
  LATCHKEY_TRUST_PROXY: "127.0.0.0/8",
  // The codes of a round are made before the round and must live until its end.
  LATCHKEY_CODE_SECONDS: "600",
});

type Serving = { program?: string; args?: string[] };

export async function serveLatchkey(
  env: Record<string, string>,
  { program = commandOf(HERE), args = [] }: Serving = {},
): Promise<{ server: Process; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = startProcess(program, ["serve", ...args], {
    ...env,
    PORT: String(port),
    LATCHKEY_PUBLIC_URL: url,
  });
  await until(() => {
    server.refuseEnded();
    return fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }, 30_000);
  return { server, url };
}

/**
 * Creates through the API what every workload needs: an identity provider (unless seeded), a redirect URI, a customer
 * with a password.
 */
export async function targetOf(
  url: string,
  idp: string,
  { store, application_key: key }: Made,
  seededProfileId?: string,
): Promise<Target> {
  const { id: keyId, client_id: clientId, client_secret: clientSecret } = key;
  const token = async (form: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: clientId, ...form });
    return (await request(url, "/oauth/access_token", { method: "POST", body })).access_token as string;
  };
  const accessToken = await token({ grant_type: "client_credentials", client_secret: clientSecret });
  const implicitToken = await token({ grant_type: "implicit" });
  const call = async (method: string, path: string, data?: object) => {
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const body = data && { body: JSON.stringify({ data }) };
    return (await request(url, path, { method, headers, ...body })).data;
  };
  const { realm_id: realmId } = await call("GET", "/v2/customer-authentication-settings");
  const realm = `/v2/authentication-realms/${realmId}`;
  await call("PUT", realm, { type: "authentication-realm", redirect_uris: [SHOP] });
  const newProfile = {
    type: "oidc-profile",
    name: "Bench",
    discovery_url: `${idp}/.well-known/openid-configuration`,
    client_id: "the-store",
    client_secret: "a secret",
  };
  const profileId = seededProfileId ?? (await call("POST", `${realm}/oidc-profiles`, newProfile)).id;
  const login = { email: "password@shop.example", password: PASSWORD };
  const { id } = await call("POST", "/v2/customers", { type: "customer", name: "Ada", ...login });
  const signedIn = await call("POST", "/v2/customers/tokens", { type: "token", ...login });
  const customer = { id, token: signedIn.token, ...login };
  const ids = { storeId: store.id, realmId, profileId, keyId, clientId, clientSecret };
  return { contestant: "latchkey", url, idp, ...ids, accessToken, implicitToken, customer };
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is not typed here; a wrong member fails where it is used.
async function request(url: string, path: string, init: RequestInit): Promise<any> {
  const answer = await fetch(url + path, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${init.method} ${path} answers ${answer.status}: ${text}`);
  return JSON.parse(text);
}
