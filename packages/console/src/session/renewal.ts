import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { leaveToSignIn } from "./member.ts";
import { useSession } from "./session.ts";

/** The time before its expiry at which a token is renewed. */
const EARLY_MS = 5 * 60_000;

const isBusy = (): boolean =>
  document.querySelector("[role=dialog]") !== null ||
  /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");

/**
 * Renews a member's token by a redirect to the provider, when the person changes the screen or returns to the
 * window, because no typed text can be lost then. The redirect replaces the history entry of the screen, so Back
 * still leads to the screen before.
 */
export function useRenewal(isOn: boolean): void {
  const { expiresAt, store } = useSession();
  const [path] = useLocation();
  const last = useRef(path);
  const isTyped = useRef(false);
  const isAsking = useRef(false);
  useEffect(() => {
    const note = () => {
      isTyped.current = true;
    };
    document.addEventListener("input", note);
    return () => document.removeEventListener("input", note);
  }, []);
  useEffect(() => {
    if (last.current !== path) isTyped.current = false;
    if (expiresAt === undefined || !isOn) return;
    const mayLeave = () => last.current === path && !document.hidden && !isTyped.current && !isBusy();
    const renew = () => {
      if (isAsking.current || Date.now() <= expiresAt - EARLY_MS || !mayLeave()) return;
      isAsking.current = true;
      // If the service cannot be reached, the screen stays, and the session ends at its time.
      leaveToSignIn(store.id, path + location.search, { prompt: "none", mayLeave })
        .catch(() => {})
        .finally(() => {
          isAsking.current = false;
        });
    };
    const isMoved = last.current !== path;
    last.current = path;
    if (isMoved) renew();
    document.addEventListener("visibilitychange", renew);
    return () => document.removeEventListener("visibilitychange", renew);
  }, [expiresAt, store.id, path, isOn]);
}
