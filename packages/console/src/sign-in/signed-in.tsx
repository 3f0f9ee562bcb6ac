import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { continuationOf, handOver } from "../session/continuation.ts";
import { comeBack } from "../session/member.ts";
import { signInWithToken } from "../session/session.ts";

let returning: ReturnType<typeof comeBack> | undefined;

/** Where the provider sends people back to. The code in the address works once, and is gone from it at once. */
export function SignedIn({ onRefused }: { onRefused: (error: unknown) => void }) {
  const [, go] = useLocation();
  const [url] = useState(() => location.href);
  useEffect(() => {
    // Effects run twice while developing, and a code is good for one use.
    returning ??= comeBack(url);
    const mine = returning;
    mine
      .then(async (returned) => {
        const asked = continuationOf(returned.back);
        if (returned.error) onRefused(returned.error);
        else if (asked && (await handOver(asked, returned.token))) return window.close();
        // Also where the window that has asked is gone: whoever has signed in goes on here.
        else await signInWithToken(returned.token);
        go(returned.back, { replace: true });
      })
      .catch((error: unknown) => {
        onRefused(error);
        go("/sign-in", { replace: true });
      })
      .finally(() => {
        if (returning === mine) returning = undefined;
      });
  }, [url, go, onRefused]);
  return (
    <main className="alone">
      <h1>Signing you in</h1>
      <SkeletonRows rows={2} />
    </main>
  );
}
