import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { tellReady } from "./node-http.ts";

/**
 * better-auth as its documentation sets it up for production with any OpenID provider: the generic OAuth plugin with
 * discovery, Node's own SQLite, behind a proxy whose header it believes. Its rate limit stays on, as it is by default.
 */
const { DATABASE, IDP = "" } = process.env as { DATABASE: string; IDP?: string };
const database = new DatabaseSync(DATABASE);
// As Latchkey has it. WAL makes it faster than it would be by default.
database.exec("pragma journal_mode = wal; pragma synchronous = full;");
const port = await freePort();
const url = `http://127.0.0.1:${port}`;

const options = {
  database,
  secret: randomBytes(32).toString("base64url"),
  baseURL: url,
  trustedOrigins: [url, "https://shop.example"],
  telemetry: { enabled: false },
  advanced: { ipAddress: { ipAddressHeaders: ["x-forwarded-for"] } },
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: "bench",
          discoveryUrl: `${IDP}/.well-known/openid-configuration`,
          clientId: "the-store",
          clientSecret: "a secret",
          scopes: ["openid", "email"],
          pkce: true,
        },
      ],
    }),
  ],
};
await (await getMigrations(options)).runMigrations();
createServer(toNodeHandler(betterAuth(options))).listen(port, "127.0.0.1", () => tellReady({ url }));
