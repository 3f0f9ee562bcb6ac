import { onlineManager } from "@tanstack/react-query";
import { useEffect } from "react";
import { endSession, useSession } from "./session.ts";

/** Ends the session with its token, and pauses all queries until there is a new token. */
export function useEnd(): boolean {
  const { expiresAt, isOver } = useSession();
  useEffect(() => {
    if (expiresAt === undefined || isOver) return;
    const timer = setTimeout(endSession, Math.max(0, expiresAt - Date.now()));
    return () => clearTimeout(timer);
  }, [expiresAt, isOver]);
  useEffect(() => {
    onlineManager.setOnline(!isOver);
    return () => onlineManager.setOnline(true);
  }, [isOver]);
  return isOver;
}
