import type * as contract from "../contract/access-tokens.ts";
import { limits } from "../contract/limits.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { LastUsed } from "../rate-limit/last-used.ts";
import type { Storage } from "../storage/storage.ts";
import { type AccessToken, writeAccessToken } from "./access-token.ts";
import { authenticateClient, identifyClient, readCredentials } from "./authenticate-client.ts";

type Body = Input<typeof contract.issueAccessToken>["body"];
type Deps = { storage: Storage; clock: Clock; keyring: Keyring; lastUsed: LastUsed };

export async function issueAccessToken(
  deps: Deps,
  authorization: string | undefined,
  { grant_type: grant, ...body }: Body & { grant_type: "implicit" | "client_credentials" },
): Promise<Output<typeof contract.issueAccessToken>> {
  if (body.scope) throw new Problem("scope_unknown");
  const credentials = readCredentials(authorization, body);
  const { storeId, keyId } =
    grant === "implicit"
      ? await identifyClient(deps, credentials.clientId)
      : await authenticateClient(deps, credentials);

  return writeAnswer(deps, { grant, storeId, holderId: keyId, tokenId: newId() });
}

/** The answer of the token endpoint: a new access token, valid for one hour. */
export function writeAnswer(
  { clock, keyring }: { clock: Clock; keyring: Keyring },
  given: Pick<AccessToken, "grant" | "storeId" | "holderId" | "tokenId">,
): Output<typeof contract.issueAccessToken> {
  const issuedAt = clock.now();
  const expiresAt = issuedAt + limits.accessTokenSeconds * 1000;
  return {
    access_token: writeAccessToken(keyring, { ...given, issuedAt, expiresAt }),
    token_type: "Bearer",
    expires_in: limits.accessTokenSeconds,
    expires: Math.floor(expiresAt / 1000),
    identifier: given.grant,
  };
}
