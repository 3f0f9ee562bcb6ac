import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { noteRefusal, refreshSession, useSession } from "../session/session.ts";
import { gather } from "./gather.ts";

/**
 * Follows the store's events while the window can be seen, and marks what they changed as stale, so that screens show it without
 * asking again and again. A window that is hidden closes its stream and takes up where it left off.
 */
const STALE: [prefix: string, key: string][] = [
  ["customer_token.", "tokens"],
  ["customer.", "customers"],
  ["sign_on.", "sign-ons"],
  ["oidc_profile.", "providers"],
  ["authentication_realm.", "realms"],
  ["customer_authentication_settings.", "settings"],
  ["application_key.", "keys"],
  ["store.", "store"],
  ["integration.", "integrations"],
  ["member.", "members"],
];

/** What an event makes stale, beside the log itself. */
export const staleAfter = (type: string): string | undefined =>
  STALE.find(([prefix]) => type.startsWith(prefix))?.[1];

const AGAIN_MS = 5000;
/** However much happens, screens ask anew once in this time at most, and are at it for a fifth of the time at most. */
const ASK_EVERY_MS = 1000;
const restMs = (tookMs: number): number => Math.max(ASK_EVERY_MS, 4 * tookMs);

export function useLiveEvents(isOn: boolean): void {
  const { admin, head } = useSession();
  const queries = useQueryClient();
  useEffect(() => {
    if (!isOn) return;
    // Not where the log ends by now: what happened since a screen was read would be in neither.
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
          // Many screens ask nothing by themselves: whoever is signed out from outside is told so before they type on.
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

/** Also what Find has found, which may be any of it. */
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
