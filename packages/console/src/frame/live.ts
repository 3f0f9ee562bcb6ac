import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { noteRefusal, refreshSession, useSession } from "../session/session.ts";
import { gather } from "./gather.ts";

/**
 * Follows the store's events while the window is visible, and marks changed queries as stale, so that screens
 * need not poll. A hidden window closes its stream, and continues from the same event when it is visible
 * again.
 */
const STALE: [prefix: string, key: string][] = [
  ["customer_token.", "tokens"],
  ["customer.", "customers"],
  ["sign_on.", "sign-ons"],
  ["oidc_profile.", "providers"],
  ["setup_link.", "setup-links"],
  ["authentication_realm.", "realms"],
  ["customer_authentication_settings.", "settings"],
  ["application_key.", "keys"],
  ["store.", "store"],
  ["integration.", "integrations"],
  ["member.", "members"],
];

/** The query key that an event makes stale, in addition to the log. */
export const staleAfter = (type: string): string | undefined =>
  STALE.find(([prefix]) => type.startsWith(prefix))?.[1];

const AGAIN_MS = 5000;
/** Screens fetch again at most once in this time, and spend at most a fifth of the time fetching. */
const ASK_EVERY_MS = 1000;
const restMs = (tookMs: number): number => Math.max(ASK_EVERY_MS, 4 * tookMs);

export function useLiveEvents(isOn: boolean): void {
  const { admin, head } = useSession();
  const queries = useQueryClient();
  useEffect(() => {
    if (!isOn) return;
    // Begins at the head from before the first screen, not at the current end: events in between would be missed.
    let after = head;
    let ending: AbortController | undefined;
    const note = gather<string>(
      (types) => markStale(queries, types),
      (tookMs) => rest(restMs(tookMs)),
    );
    const follow = async (signal: AbortSignal) => {
      while (!signal.aborted) {
        try {
          for await (const event of admin.events.stream({ after, signal })) {
            after = event.sequence;
            note(event.type);
          }
        } catch (error) {
          // Many screens send no requests by themselves, so the stream reports that the session was ended elsewhere.
          if (!signal.aborted) noteRefusal(error);
        }
        await rest(AGAIN_MS, signal);
      }
    };
    const onVisibility = () => {
      ending?.abort();
      if (document.hidden) return;
      ending = new AbortController();
      void follow(ending.signal);
    };
    document.addEventListener("visibilitychange", onVisibility);
    onVisibility();
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      ending?.abort();
    };
  }, [admin, head, queries, isOn]);
}

/** Also marks the results of Look up and of the search, which may contain any resource. */
async function markStale(queries: QueryClient, types: readonly string[]): Promise<void> {
  const keys = new Set(["events", "find", ...types.flatMap((type) => staleAfter(type) ?? [])]);
  if (types.some((type) => /^(member|application_key|store)\.updated$/.test(type)))
    refreshSession().catch(noteRefusal);
  await Promise.all([...keys].map((key) => queries.invalidateQueries({ queryKey: [key] })));
}

const rest = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
