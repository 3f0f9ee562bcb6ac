import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Modal } from "../parts/forms/modal.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { SignOut } from "../parts/sign-out.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { awaitToken, continuationPath } from "./continuation.ts";
import { leaveToSignIn } from "./member.ts";
import { continueWithToken, useSession } from "./session.ts";

/** A dialog above the screen, which keeps the typed text. */
export function Continue() {
  const { name, store } = useSession();
  const queries = useQueryClient();
  const [path] = useLocation();
  const [asked] = useState(() => crypto.randomUUID());
  const [isBlocked, setBlocked] = useState(false);
  const { isBusy, error, run } = useAct(continueWithToken, () => void queries.invalidateQueries());
  // biome-ignore lint/correctness/useExhaustiveDependencies: listens for the component's whole life
  useEffect(() => awaitToken(asked, run), [asked]);
  const leaving = useAct(() => leaveToSignIn(store.id, path + location.search, {}));
  return (
    <Modal title="Your session has ended" isFirm onClose={() => {}}>
      <p>
        {name}, sign in again to continue at {store.name}. A second window opens for the sign-in; what you
        have typed here stays.
      </p>
      {error !== undefined && <Problem error={error} />}
      {leaving.error !== undefined && <Problem error={leaving.error} />}
      {isBlocked && (
        <p className="hint hint-warn">
          Your browser blocked the window.{" "}
          <button
            type="button"
            className="button-word"
            disabled={leaving.isBusy}
            onClick={() => leaving.run()}
          >
            Sign in in this window
          </button>{" "}
          instead: you return to this screen, but what you have typed is lost.
        </p>
      )}
      <div className="form-actions">
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() =>
            setBlocked(
              window.open(
                `/console${continuationPath(asked)}`,
                "latchkey-continue",
                "popup,width=560,height=760",
              ) === null,
            )
          }
        >
          {isBusy ? "Continuing…" : "Continue"}
        </button>
        <SignOut />
      </div>
    </Modal>
  );
}
