import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/customer-tokens.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type { RequestOf } from "../contract/request.ts";
import { answerOnce, type Remember } from "../customers/idempotent-answers.ts";
import { holdPassword, type SignInDeps, signInWithPassword } from "../customers/password-sign-in.ts";
import { type IssuedToken, issueToken } from "../customers/tokens/issue-token.ts";
import { byCaller } from "../events/event.ts";
import { isWellFormed } from "../lib/secrets.ts";
import { getSettings } from "../realms/settings.ts";
import { redeem } from "./redeem.ts";
import { type DirectDeps, findDirectPath, redeemDirect } from "./redeem-direct.ts";

type Deps = DirectDeps & SignInDeps;
type CustomerTokenAnswer = Output<typeof contract.issueCustomerToken>;

type CustomerTokenRequest = RequestOf<typeof contract.issueCustomerToken>;

/** Issues a customer token for a code or for a password, with the same answer. */
export function issueCustomerToken(deps: Deps, request: CustomerTokenRequest): Promise<CustomerTokenAnswer> {
  const { data } = request.body;
  return answerOnce<CustomerTokenAnswer>(deps, request.caller, request, async (remember) =>
    present(
      data.authentication_mechanism === "oidc"
        ? await withCode(deps, request, data, remember)
        : await withPassword(deps, request, data, remember),
    ),
  );
}

type Credentials = CustomerTokenRequest["body"]["data"];
type WithCode = Extract<Credentials, { authentication_mechanism: "oidc" }>;
type WithPassword = Exclude<Credentials, WithCode>;

async function withCode(
  deps: Deps,
  { caller, source, userAgent }: CustomerTokenRequest,
  data: WithCode,
  remember: Remember<CustomerTokenAnswer>,
): Promise<IssuedToken> {
  const { storeId, requestId } = caller;
  const grant = {
    storeId,
    from: { source, userAgent },
    requestId,
    by: byCaller(caller),
    authenticatedAs: authenticatedAs(caller),
    keyId: caller.holder.type === "application_key" ? caller.holder.id : undefined,
    clientCode: data.oauth_authorization_code,
    clientRedirectUri: data.oauth_redirect_uri,
    clientVerifier: data.oauth_code_verifier,
  };
  // Latchkey's codes begin with `lkac`. Any other code can only be a provider's, for a direct profile.
  const direct = isWellFormed("lkac", grant.clientCode) ? undefined : await findDirectPath(deps, storeId);
  if (direct) return redeemDirect(deps, direct, grant, (trx, token) => remember(trx, present(token)));
  return redeem(deps, grant, async (trx, { token }) => {
    await remember(trx, present(token));
    return token;
  });
}

async function withPassword(
  deps: Deps,
  { caller, source, userAgent, isGone }: CustomerTokenRequest,
  data: WithPassword,
  remember: Remember<CustomerTokenAnswer>,
): Promise<IssuedToken> {
  const customer = await signInWithPassword(deps, caller, source, data, isGone);
  const { client_id: clientId, realm_id: realmId } = await getSettings(deps, caller.storeId);
  const signer = await deps.signingKeys.current();
  return deps.storage.transact(async (trx) => {
    // A new password ends all sessions. Without this lock, a sign-in with the old password could commit after that.
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

const present = ({ id, customerId, token, expiresAt }: IssuedToken): CustomerTokenAnswer => ({
  data: { type: "token", id, customer_id: customerId, token, expires: expiresAt / 1000 },
});

/** The application key that got the access token for its secret. */
const authenticatedAs = ({ grant, holder }: Caller): string | undefined =>
  grant === "client_credentials" && holder.type === "application_key" ? holder.clientId : undefined;
