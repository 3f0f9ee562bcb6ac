import {
  type Admin,
  ApiError,
  type ApplicationKey,
  createAdmin,
  type MemberToken,
  revokeMemberToken,
} from "@latchkey/sdk/admin";
import { useSyncExternalStore } from "react";
import { forgetSignedIn } from "./member.ts";

/**
 * Who uses the console. It is kept in this module's memory and nowhere else: a reload forgets the key, and nothing that could be
 * stolen from a disk is ever written to one.
 */
export type Role = ApplicationKey["role"];

type Session = {
  admin: Admin;
  name: string;
  role: Role;
  /** Of a member. A key fetches new ones by itself. */
  accessToken: string | undefined;
  /** Of that token, in milliseconds since 1970. */
  expiresAt: number | undefined;
  /** The member's token is no longer taken. The screen stays as it is, and rests until they have signed in again. */
  isOver: boolean;
  /** The number of the last event before any screen has read anything. */
  head: string;
  store: { id: string; name: string };
};

let current: Session | undefined;
const listeners = new Set<() => void>();

function set(session: Session | undefined): void {
  current = session;
  for (const listener of listeners) listener();
}

/** Asks who it is at once, so that a wrong secret is told here and not on the first screen. */
export const signInWithKey = async (clientId: string, clientSecret: string): Promise<void> => {
  const admin = createAdmin({ baseUrl: location.origin, clientId, clientSecret });
  set(await open(admin, { accessToken: undefined, expiresAt: undefined }));
};

export const signInWithToken = async (token: MemberToken): Promise<void> => {
  set(await sessionOf(token));
};

/** With a new token for the same store; what is on the screen stays. */
export async function continueWithToken(token: MemberToken): Promise<void> {
  const next = await sessionOf(token);
  if (next.store.id !== current?.store.id)
    throw new Error(`That was a member of ${next.store.name}, another store.`);
  set(next);
}

const sessionOf = ({ accessToken, expiresAt }: MemberToken): Promise<Session> =>
  open(createAdmin({ baseUrl: location.origin, accessToken: () => accessToken }), { accessToken, expiresAt });

async function open(
  admin: Admin,
  { accessToken, expiresAt }: Pick<Session, "accessToken" | "expiresAt">,
): Promise<Session> {
  const [me, { sequence: head }] = await Promise.all([admin.me(), admin.events.head()]);
  const { name, role, store } = me.data;
  return { admin, name, role, store, head, accessToken, expiresAt, isOver: false };
}

/** After a change of what the console shows of whoever uses it: their role, their name, the store's. */
export async function refreshSession(): Promise<void> {
  const before = current;
  if (!before) return;
  const { name, role, store } = (await before.admin.me()).data;
  if (current === before) set({ ...before, name, role, store });
}

export function endSession(): void {
  if (current && current.expiresAt !== undefined && !current.isOver) set({ ...current, isOver: true });
}

/** Called with everything that fails: who was signed out from outside is told so once, and not by every part of the screen. */
export function noteRefusal(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) endSession();
}

/** Nobody waits for the service to end the token: what does not reach it leaves a token that nobody has any more. */
export function signOut(): void {
  if (current?.accessToken !== undefined)
    revokeMemberToken({ baseUrl: location.origin }, current.accessToken).catch(() => {});
  forgetSignedIn();
  set(undefined);
}

export const useMaybeSession = (): Session | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );

/** Below the frame somebody is always signed in. */
export function useSession(): Session {
  const session = useMaybeSession();
  if (!session) throw new Error("nobody is signed in");
  return session;
}

export const useAdmin = (): Admin => useSession().admin;
