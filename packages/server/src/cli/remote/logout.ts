import { CLI_CLIENT_ID } from "../../contract/access-tokens.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { ask } from "./ask.ts";
import { findSession, forgetSession } from "./kept-session.ts";

const ANSWERS_WITHIN_MS = 10_000;

/** Deletes the file first: if the service does not answer, no copy of the token remains here. */
export async function logout({ json }: { json: boolean }): Promise<void> {
  const session = findSession(process.env);
  forgetSession(process.env);
  if (!session) {
    console.log(json ? JSON.stringify({ signed_out_of: null }) : "You were not signed in.");
    return;
  }
  const { url, access_token: token } = session;
  const form = new URLSearchParams({ client_id: CLI_CLIENT_ID, token });
  const { status } = await ask(`${url}/oauth/revoke`, AbortSignal.timeout(ANSWERS_WITHIN_MS), { form }).catch(
    () => ({ status: 0 }),
  );
  if (status !== 200)
    throw operatorFault(
      `you are signed out here, but ${url} did not confirm it: the token works until ${session.expires_at}`,
    );
  const { store } = session;
  console.log(json ? JSON.stringify({ signed_out_of: store }) : `You are signed out of ${store.name}.`);
}
