import { checkSecret } from "../application-keys/secret.ts";
import type { OpenidClient } from "../contract/openid-client.ts";
import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import type { Clock } from "../lib/clock.ts";
import { isWellFormed } from "../lib/secrets.ts";
import type { LastUsed } from "../rate-limit/last-used.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";

/** An application key as the client of an OAuth endpoint. */
type ApplicationClient = {
  storeId: string;
  keyId: string;
  keyName: string;
  clientId: string;
  role: Role;
  openidClient: OpenidClient;
};

export type ClientCredentials = { clientId: string | undefined; clientSecret: string | undefined };

export type ClientDeps = { storage: Storage; clock: Clock; lastUsed: LastUsed };

/**
 * Reads credentials from Basic authorization or from the body, never from both (RFC 6749 2.3). An empty credential
 * counts as missing. `Authorization` with another scheme is ignored: many clients send an old bearer token with each
 * request.
 */
export function readCredentials(
  authorization: string | undefined,
  body: { client_id?: string | undefined; client_secret?: string | undefined },
): ClientCredentials {
  const inBody = { clientId: body.client_id || undefined, clientSecret: body.client_secret || undefined };
  if (authorization === undefined || !IS_BASIC.test(authorization)) return inBody;
  // A client id beside Basic is allowed (RFC 6749 4.1.3 has it as a parameter); a second secret is not.
  if (inBody.clientSecret !== undefined) throw new Problem("client_authenticated_twice");
  const basic = readBasic(authorization);
  if (!basic) throw new Problem("client_unknown");
  if (inBody.clientId !== undefined && inBody.clientId !== basic.clientId) {
    throw new Problem("client_authenticated_twice");
  }
  return basic;
}

/** Tests only the scheme, so that Basic with malformed credentials is refused and not ignored. */
const IS_BASIC = /^basic(\s|$)/i;

/** RFC 6749 2.3.1: both halves are form-encoded before they are joined by a colon and base64-encoded. */
function readBasic(authorization: string): ClientCredentials | undefined {
  const encoded = /^basic ([A-Za-z0-9+/]{1,2048}={0,2})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  if (colon === -1) return undefined;
  try {
    return {
      clientId: decodeForm(pair.slice(0, colon)),
      clientSecret: decodeForm(pair.slice(colon + 1)) || undefined,
    };
  } catch {
    return undefined;
  }
}

const decodeForm = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));

/** The application key that a client id names. A client id is public: it proves nothing. */
export async function identifyClient(
  { storage }: { storage: Storage },
  clientId: string | undefined,
): Promise<ApplicationClient> {
  const client = await findClient(storage.db, wellFormed(clientId));
  if (!client) throw new Problem("client_unknown");
  return client;
}

function wellFormed(clientId: string | undefined): string {
  if (clientId === undefined)
    throw new Problem("client_credentials_missing", { detail: "`client_id` is missing." });
  if (!isWellFormed("lkid", clientId)) throw new Problem("client_id_mistyped");
  return clientId;
}

export async function findClient(db: Database, clientId: string): Promise<ApplicationClient | undefined> {
  const row = isWellFormed("lkid", clientId) ? await findKey.first(db, { clientId }) : undefined;
  return (
    row && {
      storeId: row.store_id,
      keyId: row.id,
      keyName: row.name,
      clientId,
      role: row.role as Role,
      openidClient: row.openid_client as OpenidClient,
    }
  );
}

const findKey = statement((db, of: { clientId: string }) =>
  db
    .selectFrom("application_keys as key")
    .innerJoin("stores as store", "store.id", "key.store_id")
    .select(["key.id", "key.store_id", "key.name", "key.role", "key.openid_client"])
    .where("key.client_id", "=", of.clientId)
    .where("store.deleted_at", "is", null),
);

const NO_KEY = { storeId: "", keyId: "" };

/** An unknown client id costs the same work as a wrong secret, and gets the same answer. */
export async function authenticateClient(
  deps: ClientDeps,
  { clientId, clientSecret }: ClientCredentials,
): Promise<ApplicationClient> {
  if (clientSecret === undefined) {
    const missing = clientId === undefined ? "`client_id` and `client_secret` are" : "`client_secret` is";
    throw new Problem("client_credentials_missing", { detail: `${missing} missing.` });
  }
  const named = wellFormed(clientId);
  if (!isWellFormed("lksk", clientSecret)) throw new Problem("client_secret_mistyped");
  const client = await findClient(deps.storage.db, named);
  const { storeId, keyId } = client ?? NO_KEY;
  const checked = await checkSecret(deps, storeId, keyId, clientSecret);
  if (!client || checked.verdict === "wrong") throw new Problem("client_unknown");
  if (checked.verdict === "rotated") throw new Problem("secret_rotated");
  deps.lastUsed.noteSecret(client.storeId, checked.secretId);
  return client;
}
