import { createHmac, timingSafeEqual } from "node:crypto";
import type { Grant } from "../contract/permissions.ts";
import { idFromBytes, idToBytes } from "../lib/ids.ts";
import { KEY_ID_BYTES, type Keyring } from "../lib/keyring.ts";

/**
 * An access token contains its own data and an HMAC over them, so issuing a token writes no row. The implicit grant is
 * open to everybody, and must not be able to fill the database.
 *
 *     lkat_ base64url( version 1 | key id 4 | grant 1 | store 16 | holder 16 | token 16
 *                      | issued 4 | expires 4 | HMAC-SHA-256 32 )
 */
export type AccessToken = {
  grant: Grant;
  storeId: string;
  /** The id of the application key or the member. */
  holderId: string;
  tokenId: string;
  issuedAt: number;
  expiresAt: number;
};

const PREFIX = "lkat_";
const VERSION = 1;
const GRANTS: readonly Grant[] = ["implicit", "client_credentials", "member"];
const AT = {
  keyId: 1,
  grant: 1 + KEY_ID_BYTES,
  store: 6,
  holder: 22,
  token: 38,
  issued: 54,
  expires: 58,
  mac: 62,
} as const;
const BYTES = AT.mac + 32;
const LENGTH = PREFIX.length + Math.ceil((BYTES * 4) / 3);

export function writeAccessToken(keyring: Keyring, token: AccessToken): string {
  const { keyId, key } = keyring.current("access-token");
  const bytes = Buffer.alloc(BYTES);
  bytes[0] = VERSION;
  keyId.copy(bytes, AT.keyId);
  bytes[AT.grant] = GRANTS.indexOf(token.grant);
  idToBytes(token.storeId).copy(bytes, AT.store);
  idToBytes(token.holderId).copy(bytes, AT.holder);
  idToBytes(token.tokenId).copy(bytes, AT.token);
  bytes.writeUInt32BE(Math.floor(token.issuedAt / 1000), AT.issued);
  bytes.writeUInt32BE(Math.floor(token.expiresAt / 1000), AT.expires);
  createHmac("sha256", key).update(bytes.subarray(0, AT.mac)).digest().copy(bytes, AT.mac);
  return PREFIX + bytes.toString("base64url");
}

/** Returns the data of a token with a correct HMAC. The caller checks whether the token has expired or was revoked. */
export function readAccessToken(keyring: Keyring, text: string): AccessToken | undefined {
  if (text.length !== LENGTH || !text.startsWith(PREFIX)) return undefined;
  const bytes = Buffer.from(text.slice(PREFIX.length), "base64url");
  // The decoder skips characters outside base64url and ignores spare bits, so only a text that encodes back to itself
  // is accepted.
  if (bytes.length !== BYTES || PREFIX + bytes.toString("base64url") !== text) return undefined;
  if (bytes[0] !== VERSION) return undefined;
  const key = keyring.find("access-token", bytes.subarray(AT.keyId, AT.grant));
  if (!key) return undefined;
  const mac = createHmac("sha256", key).update(bytes.subarray(0, AT.mac)).digest();
  if (!timingSafeEqual(mac, bytes.subarray(AT.mac))) return undefined;
  const grant = GRANTS[bytes[AT.grant] as number];
  if (!grant) return undefined;
  return {
    grant,
    storeId: idFromBytes(bytes.subarray(AT.store, AT.holder)),
    holderId: idFromBytes(bytes.subarray(AT.holder, AT.token)),
    tokenId: idFromBytes(bytes.subarray(AT.token, AT.issued)),
    issuedAt: bytes.readUInt32BE(AT.issued) * 1000,
    expiresAt: bytes.readUInt32BE(AT.expires) * 1000,
  };
}
