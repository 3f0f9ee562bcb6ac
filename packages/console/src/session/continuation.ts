import type { MemberToken } from "@latchkey/sdk/admin";

/**
 * Signs in again without leaving the screen: a second window goes to the provider and back, and sends the
 * token to the first window over a channel of this origin. The token is never stored.
 */
type Message = { asked: string; token: MemberToken } | { asked: string; taken: true };

const open = () => new BroadcastChannel("latchkey:console:continuation");

const PREFIX = "/sign-in?continue=";

/** The path at which the second window begins and to which it returns. */
export const continuationPath = (asked: string): string => PREFIX + asked;

/** The id of the first window, if this is a second window. */
export const continuationOf = (path: string): string | undefined =>
  path.startsWith(PREFIX) ? path.slice(PREFIX.length) : undefined;

/** The first window answers at once, unless it was closed or reloaded. */
const ANSWER_MS = 3000;

/** For the second window. Returns whether the first window has taken the token. */
export async function handOver(asked: string, token: MemberToken): Promise<boolean> {
  const channel = open();
  const isTaken = await new Promise<boolean>((resolve) => {
    setTimeout(resolve, ANSWER_MS, false);
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.asked === asked && "taken" in data) resolve(true);
    };
    channel.postMessage({ asked, token } satisfies Message);
  });
  channel.close();
  return isTaken;
}

/** For the first window. Returns a function that stops waiting. */
export function awaitToken(asked: string, onToken: (token: MemberToken) => void): () => void {
  const channel = open();
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.asked !== asked || !("token" in data)) return;
    channel.postMessage({ asked, taken: true } satisfies Message);
    onToken(data.token);
  };
  return () => channel.close();
}
