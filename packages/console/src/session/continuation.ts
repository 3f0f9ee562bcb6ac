import type { MemberToken } from "@latchkey/sdk/admin";

/**
 * Signing in again without leaving the screen: a second window goes to the provider and back, and hands the token to the window that
 * asked for it. It travels from memory to memory, between windows of this origin; nothing is written.
 */
type Message = { asked: string; token: MemberToken } | { asked: string; taken: true };

const open = () => new BroadcastChannel("latchkey:console:continuation");

const PREFIX = "/sign-in?continue=";

/** Where the second window begins, and comes back to. */
export const continuationPath = (asked: string): string => PREFIX + asked;

/** Which window has asked, where this one is such a second window. */
export const continuationOf = (path: string): string | undefined =>
  path.startsWith(PREFIX) ? path.slice(PREFIX.length) : undefined;

/** The window that has asked answers at once; one that was closed, or loaded again, never does. */
const ANSWER_MS = 3000;

/** In the second window. Whether the token has been taken. */
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

/** In the window that asks. Gives back what ends the waiting. */
export function awaitToken(asked: string, onToken: (token: MemberToken) => void): () => void {
  const channel = open();
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.asked !== asked || !("token" in data)) return;
    channel.postMessage({ asked, taken: true } satisfies Message);
    onToken(data.token);
  };
  return () => channel.close();
}
