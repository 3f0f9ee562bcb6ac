import { getSession } from "./kept-session.ts";

/** For scripts: `curl -H "Authorization: Bearer $(latchkey token)" …`. */
export async function token({ json }: { json: boolean }): Promise<void> {
  const session = getSession(process.env, Date.now());
  console.log(json ? JSON.stringify(session) : session.access_token);
}
