import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { type Server, startProgram } from "../servers/process.ts";
import { SHOP } from "../workloads/steps.ts";

/** The program that `build-dex.sh` makes, with the folder of its pages beside it. Without it dex does not take part. */
export const DEX = process.platform === "linux" ? process.env.DEX : undefined;

/** The credentials of the client at dex's token endpoint. */
export const DEX_CLIENT = { id: "shop", secret: "a secret of the shop" };

/** `database` is a file, which dex does not create with storage in memory. */
type Options = { database: string; idp: string; storage: "memory" | "sqlite3" };

/**
 * Starts dex as its documentation configures it: one connector to the identity provider, one client for the shop, no
 * approval screen. By default dex logs each sign-on.
 */
export async function startDex({
  database,
  idp,
  storage,
}: Options): Promise<{ server: Server; url: string }> {
  if (DEX === undefined) throw new Error("DEX does not say where dex is");
  const origin = `http://127.0.0.1:${await freePort()}`;
  const url = `${origin}/dex`;
  // JSON is YAML.
  const config = {
    issuer: url,
    storage: { type: storage, ...(storage === "sqlite3" && { config: { file: database } }) },
    web: { http: new URL(origin).host },
    frontend: { dir: join(dirname(DEX), "web") },
    oauth2: { skipApprovalScreen: true },
    staticClients: [{ ...DEX_CLIENT, name: "Shop", redirectURIs: [SHOP] }],
    connectors: [
      {
        type: "oidc",
        id: "bench",
        name: "The store's identity provider",
        config: {
          issuer: idp,
          clientID: "the-store",
          clientSecret: "a secret",
          redirectURI: `${url}/callback`,
          scopes: ["openid", "email"],
        },
      },
    ],
  };
  const file = `${database}.yaml`;
  writeFileSync(file, JSON.stringify(config));
  const server = startProgram(DEX, ["serve", file]);
  await until(async () => {
    server.refuseEnded();
    return fetch(`${url}/.well-known/openid-configuration`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return { server, url };
}
