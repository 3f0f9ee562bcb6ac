import {
  type Admin,
  ApiError,
  type ApplicationKey,
  createAdmin,
  type MemberToken,
  revokeMemberToken,
} from "@latchkey/sdk/admin";
import { useSyncExternalStore } from "react";
import { places } from "./member.ts";

/**
 * The console's session. It exists only in this module's memory: a reload forgets the key, and no secret is
 * written to disk.
 */
export type Role = ApplicationKey["role"];

type Session = {
  admin: Admin;
  name: string;
  role: Role;
  /** The access token of a member; undefined for an application key, for which the SDK fetches tokens. */
  accessToken: string | undefined;
  /** When `accessToken` expires, in milliseconds since 1970. */
  expiresAt: number | undefined;
  /** The service refuses the member's token. The screen stays, and its queries pause until a new sign-in. */
  isOver: boolean;
  /** The number of the last event before any screen has read anything. */
  head: string;
  store: { id: string; name: string };
};

let current: Session | undefined;
/** The last session ended because another tab signed out. */
let isEndedElsewhere = false;
const listeners = new Set<() => void>();

function set(session: Session | undefined, isElsewhere = false): void {
  current = session;
  isEndedElsewhere = isElsewhere;
  // A member can return to this store from another one. A key's session leaves no note on the device.
  if (session?.accessToken !== undefined) places.named(session.store);
  for (const listener of listeners) listener();
}

/** Requests `/v2/me` at once, so that a wrong secret is reported here and not on the first screen. */
export const signInWithKey = async (clientId: string, clientSecret: string): Promise<void> => {
  const admin = createAdmin({ baseUrl: location.origin, clientId, clientSecret });
  set(await open(admin, { accessToken: undefined, expiresAt: undefined }));
  // A reload must not sign the tab in as a member instead.
  if (places.silent() !== undefined) places.signedOut(undefined);
};

export const signInWithToken = async (token: MemberToken): Promise<void> => {
  set(await sessionOf(token));
};

/** Continues with a new token for the same store. The screen stays. */
export async function continueWithToken(token: MemberToken): Promise<void> {
  const next = await sessionOf(token);
  if (next.store.id !== current?.store.id)
    throw new Error(`You signed in to ${next.store.name}, which is another store.`);
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

/** Call it after a change of the person's role or name, or of the store's name. */
export async function refreshSession(): Promise<void> {
  const before = current;
  if (!before) return;
  const { name, role, store } = (await before.admin.me()).data;
  if (current === before) set({ ...before, name, role, store });
}

export function endSession(): void {
  if (current && current.expiresAt !== undefined && !current.isOver) set({ ...current, isOver: true });
}

/**
 * Called with every error. A session that was ended elsewhere is reported once, not by every part of the
 * screen.
 */
export function noteRefusal(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) endSession();
}

/** Does not wait for the service to revoke the token: if the request fails, no copy of the token remains. */
export function signOut(): void {
  places.signedOut(current?.accessToken === undefined ? undefined : current.store.id);
  drop();
}

/** The person has signed out in another tab, and expects to be signed out everywhere in this browser. */
export const signOutWithOtherTab = (): void => drop(true);

export const wasEndedElsewhere = (): boolean => isEndedElsewhere;

function drop(isElsewhere = false): void {
  if (current?.accessToken !== undefined)
    revokeMemberToken({ baseUrl: location.origin }, current.accessToken).catch(() => {});
  set(undefined, isElsewhere);
}

export const useMaybeSession = (): Session | undefined =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );

/** For components inside the frame, which exists only during a session. */
export function useSession(): Session {
  const session = useMaybeSession();
  if (!session) throw new Error("there is no session");
  return session;
}

export const useAdmin = (): Admin => useSession().admin;
