import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { sendReady } from "./node-http.ts";

/**
 * better-auth as its documentation configures it for production with any OpenID provider: the generic OAuth plugin with
 * discovery, Node's own SQLite, and the address from a proxy's header. Its rate limit is on, the default.
 */
const { DATABASE, IDP = "" } = process.env as { DATABASE: string; IDP?: string };
const database = new DatabaseSync(DATABASE);
// The same settings as Latchkey's. WAL makes better-auth faster than its default.
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
createServer(toNodeHandler(betterAuth(options))).listen(port, "127.0.0.1", () => sendReady({ url }));
