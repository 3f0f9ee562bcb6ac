import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { places } from "./member.ts";
import { signOutWithOtherTab, useSession } from "./session.ts";

/** Ends a member's session when the member signs out in another tab, and clears the loaded data. */
export function useOtherTabs(): void {
  const { accessToken, store } = useSession();
  const queries = useQueryClient();
  const isMember = accessToken !== undefined;
  useEffect(() => {
    // Never known: the browser keeps nothing for other tabs.
    if (!isMember || !places.isKnown(store.id)) return;
    const look = () => {
      if (places.isKnown(store.id)) return;
      signOutWithOtherTab();
      queries.clear();
    };
    // A page that the browser has frozen gets no `storage` event, so it looks when it is shown again.
    addEventListener("storage", look);
    addEventListener("pageshow", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      removeEventListener("storage", look);
      removeEventListener("pageshow", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [isMember, store.id, queries]);
}
