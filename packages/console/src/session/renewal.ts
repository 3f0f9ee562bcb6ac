import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { findPlace, leaveToSignIn } from "./member.ts";
import { useSession } from "./session.ts";

/** The time before its expiry at which a token is renewed. */
const EARLY_MS = 5 * 60_000;

const isBusy = (): boolean =>
  document.querySelector("[role=dialog]") !== null ||
  /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");

/**
 * Renews a member's token by a redirect to the provider, when the person changes the screen or returns to the
 * window, because no typed text can be lost then.
 */
export function useRenewal(isOn: boolean): void {
  const { expiresAt } = useSession();
  const [path] = useLocation();
  const last = useRef(path);
  const isTyped = useRef(false);
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
    const renew = () => {
      const place = findPlace("");
      if (!document.hidden && place && Date.now() > expiresAt - EARLY_MS && !isTyped.current && !isBusy())
        void leaveToSignIn(place, path + location.search, "none");
    };
    if (last.current !== path) renew();
    last.current = path;
    document.addEventListener("visibilitychange", renew);
    return () => document.removeEventListener("visibilitychange", renew);
  }, [expiresAt, path, isOn]);
}
