import { isId } from "../../lib/ids.ts";
import { issuerOf } from "../../realms/issuer.ts";
import type { Realm } from "../../realms/realm.ts";
import type { SigningKeys } from "../../signing-keys/signing-keys.ts";

/** The `typ` of ID tokens, which a realm signs as an OpenID provider. */
export const ID_TOKEN_TYPE = "JWT";

/** The sign-on that an ID token was issued for. */
type IdTokenHint = { clientId: string; customerId: string; tokenId: string; profileId: string };

/**
 * Reads an ID token of this realm. An expired one is accepted, because a hint only names a sign-on and grants nothing.
 */
export async function readIdTokenHint(
  deps: { publicUrl: string; signingKeys: SigningKeys },
  realm: Realm,
  text: string,
): Promise<IdTokenHint | undefined> {
  const jws = await deps.signingKeys.readSigned(text);
  if (!jws || jws.typ !== ID_TOKEN_TYPE) return undefined;
  const { iss, aud, sub, sid, profile_id: profileId } = jws.claims;
  if (iss !== issuerOf(deps, realm.store_id, realm.id)) return undefined;
  if (typeof aud !== "string" || typeof sub !== "string" || typeof sid !== "string" || !isId(sid))
    return undefined;
  return {
    clientId: aud,
    customerId: sub,
    tokenId: sid,
    profileId: typeof profileId === "string" ? profileId : "",
  };
}
