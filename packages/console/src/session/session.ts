import { type Admin, type ApplicationKey, createAdmin } from "@latchkey/sdk/admin";
import { useSyncExternalStore } from "react";

/**
 * Who uses the console. It is kept in this module's memory and nowhere else: a reload forgets the key, and nothing that could be
 * stolen from a disk is ever written to one.
 */
export type Role = ApplicationKey["role"];

export type Session = {
  admin: Admin;
  name: string;
  role: Role;
  store: { id: string; name: string };
};

let current: Session | undefined;
const listeners = new Set<() => void>();

function set(session: Session | undefined): void {
  current = session;
  for (const listener of listeners) listener();
}

/** Asks at once, so that a wrong secret is told here and not on the first screen. */
export async function signInWithKey(clientId: string, clientSecret: string): Promise<void> {
  const admin = createAdmin({ baseUrl: location.origin, clientId, clientSecret });
  const [{ data: store }, key] = await Promise.all([admin.store.get(), findKey(admin, clientId)]);
  // A key that was deleted meanwhile may do nothing, which the service says to every question.
  set({ admin, name: key?.name ?? "Application key", role: key?.role ?? "viewer", store });
}

async function findKey(admin: Admin, clientId: string): Promise<ApplicationKey | undefined> {
  for await (const key of admin.applicationKeys.list({ limit: 100 }).all())
    if (key.client_id === clientId) return key;
  return undefined;
}

export const signOut = (): void => set(undefined);

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
