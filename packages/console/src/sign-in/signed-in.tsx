import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { continuationOf, handOver } from "../session/continuation.ts";
import { comeBack, isLate } from "../session/member.ts";
import { signInWithToken } from "../session/session.ts";

let returning: ReturnType<typeof comeBack> | undefined;

/** The page at the console's redirect URI. It removes the code, which works once, from the URL. */
export function SignedIn({ onRefused }: { onRefused: (error: unknown) => void }) {
  const [, go] = useLocation();
  const [url] = useState(() => location.href);
  useEffect(() => {
    // React runs effects twice in development, but a code works once.
    returning ??= comeBack(url);
    const mine = returning;
    mine
      .then(async (returned) => {
        const asked = continuationOf(returned.back);
        if (returned.error) {
          if (!isLate(returned.error)) onRefused(returned.error);
        } else if (asked && (await handOver(asked, returned.token))) return window.close();
        // If the first window was closed, this window continues.
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
