import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider, Session } from "./oidc-provider.ts";

/** The session of the request's browser, with or without a signed-in person. */
export const sessionOf = (
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Session> => provider.Session.get(provider.createContext(request, response));

/** Ends a session, and sends logout tokens to its clients (OpenID Connect Back-Channel Logout 1.0). */
export async function endSession(provider: Provider, session: Session): Promise<void> {
  const { accountId, authorizations = {} } = session;
  if (accountId === undefined) return;
  const told = Object.entries(authorizations).map(async ([clientId, { sid, grantId }]) => {
    const client = await provider.Client.find(clientId);
    if (client?.backchannelLogoutUri !== undefined) await client.backchannelLogout(accountId, sid);
    if (grantId !== undefined) await (await provider.Grant.find(grantId))?.destroy();
  });
  // The session ends even if a logout token cannot be delivered.
  await Promise.allSettled(told);
  await session.destroy();
}
