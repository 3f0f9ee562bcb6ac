import {
  type Admin,
  ApiError,
  type ApplicationKey,
  createAdmin,
  type MemberToken,
} from "@latchkey/sdk/admin";
import { useSyncExternalStore } from "react";
import { forgetSignedIn } from "./member.ts";

/**
 * Who uses the console. It is kept in this module's memory and nowhere else: a reload forgets the key, and nothing that could be
 * stolen from a disk is ever written to one.
 */
export type Role = ApplicationKey["role"];

export type Session = {
  admin: Admin;
  name: string;
  role: Role;
  /** Of a member's token, in milliseconds since 1970. A key fetches new ones by itself. */
  expiresAt: number | undefined;
  /** The member's token is no longer taken. The screen stays as it is, and rests until they have signed in again. */
  isOver: boolean;
  store: { id: string; name: string };
};

let current: Session | undefined;
const listeners = new Set<() => void>();

function set(session: Session | undefined): void {
  current = session;
  for (const listener of listeners) listener();
}

/** Asks who it is at once, so that a wrong secret is told here and not on the first screen. */
export const signInWithKey = (clientId: string, clientSecret: string): Promise<void> =>
  signIn(createAdmin({ baseUrl: location.origin, clientId, clientSecret }), undefined);

export const signInWithToken = ({ accessToken, expiresAt }: MemberToken): Promise<void> =>
  signIn(createAdmin({ baseUrl: location.origin, accessToken: () => accessToken }), expiresAt);

async function signIn(admin: Admin, expiresAt: number | undefined): Promise<void> {
  const { name, role, store } = (await admin.me()).data;
  set({ admin, name, role, store, expiresAt, isOver: false });
}

/** With a new token for the same store; what is on the screen stays. */
export async function continueWithToken({ accessToken, expiresAt }: MemberToken): Promise<void> {
  const admin = createAdmin({ baseUrl: location.origin, accessToken: () => accessToken });
  const { name, role, store } = (await admin.me()).data;
  if (store.id !== current?.store.id) throw new Error(`That was a member of ${store.name}, another store.`);
  set({ admin, name, role, store, expiresAt, isOver: false });
}

export function endSession(): void {
  if (current && current.expiresAt !== undefined && !current.isOver) set({ ...current, isOver: true });
}

/** Called with everything that fails: who was signed out from outside is told so once, and not by every part of the screen. */
export function noteRefusal(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) endSession();
}

export function signOut(): void {
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
