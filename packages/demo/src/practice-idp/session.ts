import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider, Session } from "./oidc-provider.ts";

/** The session of the browser that asks, whether anybody is signed in or not. */
export const sessionOf = (
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Session> => provider.Session.get(provider.createContext(request, response));

/** Signs somebody out here, and tells the clients that they had signed in to (OpenID Connect Back-Channel Logout 1.0). */
export async function endSession(provider: Provider, session: Session): Promise<void> {
  const { accountId, authorizations = {} } = session;
  if (accountId === undefined) return;
  const told = Object.entries(authorizations).map(async ([clientId, { sid, grantId }]) => {
    const client = await provider.Client.find(clientId);
    if (client?.backchannelLogoutUri !== undefined) await client.backchannelLogout(accountId, sid);
    if (grantId !== undefined) await (await provider.Grant.find(grantId))?.destroy();
  });
  // A logout token that cannot be delivered is ignored: the session ends here all the same.
  await Promise.allSettled(told);
  await session.destroy();
}
