import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/customer-tokens.ts";
import type { Input, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { answerOnce, type Remember } from "../customers/answer-once.ts";
import { holdPassword, type SignInDeps, signInWithPassword } from "../customers/sign-in.ts";
import { type IssuedToken, issueToken } from "../customers/tokens/customer-token.ts";
import { byCaller } from "../events/event.ts";
import { isWellFormed } from "../lib/secrets.ts";
import { getSettings } from "../realms/settings.ts";
import { redeem } from "./redeem.ts";
import { type DirectDeps, findDirectPlace, redeemDirect } from "./redeem-direct.ts";

type Deps = DirectDeps & SignInDeps;
type Body = Input<typeof contract.issueCustomerToken>["body"];
type Answer = Output<typeof contract.issueCustomerToken>;

type TokenRequest = {
  caller: Caller;
  source: string;
  userAgent: string | undefined;
  isGone(): boolean;
  idempotencyKey: string | undefined;
  body: Body;
};

/** Issues every customer token, for a code as for a password, with the same answer. */
export function issueCustomerToken(deps: Deps, request: TokenRequest): Promise<Answer> {
  const { data } = request.body;
  return answerOnce<Answer>(deps, request.caller, request, async (remember) =>
    present(
      data.authentication_mechanism === "oidc"
        ? await withCode(deps, request, data, remember)
        : await withPassword(deps, request, data, remember),
    ),
  );
}

type WithCode = Extract<Body["data"], { authentication_mechanism: "oidc" }>;
type WithPassword = Exclude<Body["data"], WithCode>;

async function withCode(
  deps: Deps,
  { caller, source, userAgent }: TokenRequest,
  data: WithCode,
  remember: Remember<Answer>,
): Promise<IssuedToken> {
  const { storeId, requestId } = caller;
  const grant = {
    storeId,
    from: { source, userAgent },
    requestId,
    by: byCaller(caller),
    authenticatedAs: authenticatedAs(caller),
    clientCode: data.oauth_authorization_code,
    clientRedirectUri: data.oauth_redirect_uri,
    clientVerifier: data.oauth_code_verifier,
  };
  // A code of ours has our form. Any other can only be an identity provider's, where one is used directly.
  const direct = isWellFormed("lkac", grant.clientCode) ? undefined : await findDirectPlace(deps, storeId);
  if (direct) return redeemDirect(deps, direct, grant, (trx, token) => remember(trx, present(token)));
  return redeem(deps, grant, async (trx, { token }) => {
    await remember(trx, present(token));
    return token;
  });
}

async function withPassword(
  deps: Deps,
  { caller, source, userAgent, isGone }: TokenRequest,
  data: WithPassword,
  remember: Remember<Answer>,
): Promise<IssuedToken> {
  const customer = await signInWithPassword(deps, caller, source, data, isGone);
  const { client_id: clientId, realm_id: realmId } = await getSettings(deps, caller.storeId);
  const signer = await deps.signingKeys.current();
  return deps.storage.transact(async (trx) => {
    // A new password ends all sessions; one that was begun with the old password must not slip in behind it.
    if (!(await holdPassword(trx, customer))) throw new Problem("credentials_wrong");
    const granted = {
      storeId: caller.storeId,
      realmId,
      clientId,
      customerId: customer.id,
      mechanism: "password",
      from: { source, userAgent },
    } as const;
    const token = await issueToken(trx, deps, signer, granted, { by: byCaller(caller) });
    await remember(trx, present(token));
    return token;
  });
}

const present = ({ id, customerId, token, expiresAt }: IssuedToken): Answer => ({
  data: { type: "token", id, customer_id: customerId, token, expires: expiresAt / 1000 },
});

/** The application key whose secret stands behind the access token. */
const authenticatedAs = ({ grant, holder }: Caller): string | undefined =>
  grant === "client_credentials" && holder.type === "application_key" ? holder.clientId : undefined;
