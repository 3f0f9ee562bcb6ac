import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Made } from "../../e2e/running.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import type { Runner } from "../measure/measure.ts";
import { SHOP } from "../workloads/steps.ts";
import type { Contestant } from "../workloads/workload.ts";
import { type Process, startProcess } from "./process.ts";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
const PASSWORD = "correct horse battery staple";

type Options = {
  databaseUrl: string;
  idp: string;
  contestant?: Contestant;
  checkout?: string;
  /** What follows `latchkey serve`. */
  args?: string[];
  /** For the service alone. */
  env?: Record<string, string>;
};

export type Started = Runner & { server: Process };

/** The service as an operator starts it, behind a proxy, with a store whose limit nobody reaches. */
export async function startLatchkey({
  databaseUrl,
  idp,
  contestant = "latchkey",
  checkout = HERE,
  args = [],
  env: more = {},
}: Options): Promise<Started> {
  const env = envOf(databaseUrl, idp);
  const made = await createStore(env, checkout);
  const { server, url } = await serveLatchkey({ ...env, ...more }, { program: commandOf(checkout), args });
  const { id: keyId, client_id: clientId, client_secret: clientSecret } = made.application_key;
  const facts = await furnish(url, idp, { clientId, clientSecret });
  return {
    server,
    target: { contestant, url, idp, storeId: made.store.id, keyId, clientId, clientSecret, ...facts },
  };
}

const commandOf = (checkout: string): string => join(checkout, "packages/server/bin/latchkey.js");

/** By the command line, which makes the tables first. */
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
  // A round's codes are made before it begins.
  LATCHKEY_CODE_SECONDS: "600",
});

export async function serveLatchkey(
  env: Record<string, string>,
  { program = commandOf(HERE), args = [] }: { program?: string; args?: string[] } = {},
) {
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

type Credentials = { clientId: string; clientSecret: string };

/** Through the API, as a store's administrator does it: an identity provider, a storefront, a customer with a password. */
export async function furnish(
  url: string,
  idp: string,
  { clientId, clientSecret }: Credentials,
  seededProfileId?: string,
) {
  const token = async (form: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: clientId, ...form });
    return (await ask(url, "/oauth/access_token", { method: "POST", body })).access_token as string;
  };
  const accessToken = await token({ grant_type: "client_credentials", client_secret: clientSecret });
  const implicitToken = await token({ grant_type: "implicit" });
  const call = async (method: string, path: string, data?: object) => {
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const body = data && { body: JSON.stringify({ data }) };
    return (await ask(url, path, { method, headers, ...body })).data;
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
  const email = "password@shop.example";
  const { id } = await call("POST", "/v2/customers", {
    type: "customer",
    name: "Ada",
    email,
    password: PASSWORD,
  });
  const signedIn = await call("POST", "/v2/customers/tokens", { type: "token", email, password: PASSWORD });
  const customer = { id, token: signedIn.token, email, password: PASSWORD };
  return { accessToken, implicitToken, realmId, profileId, customer };
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever it is; what is wrong with it is seen at its use.
async function ask(url: string, path: string, request: RequestInit): Promise<any> {
  const answer = await fetch(url + path, request);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${request.method} ${path} answers ${answer.status}: ${text}`);
  return JSON.parse(text);
}
