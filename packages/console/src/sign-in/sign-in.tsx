import { ApiError } from "@latchkey/sdk/admin";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Brand } from "../frame/frame.tsx";
import { HELP } from "../help/help.ts";
import { HelpLink } from "../help/help-link.tsx";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { SCREENS } from "../screens.ts";
import { continuationOf } from "../session/continuation.ts";
import { leaveToSignIn, mustAsk, places } from "../session/member.ts";
import { storeIn } from "../session/places.ts";
import { signInWithKey, wasEndedElsewhere } from "../session/session.ts";
import { WithMember } from "./with-member.tsx";

/** Shown at every screen's path until a person is signed in. Does not change the path. */
export function SignIn({ refused }: { refused: unknown }) {
  const [path] = useLocation();
  const isSecond = continuationOf(path + location.search) !== undefined;
  const given = storeIn(path, location.search);
  const back = storeIsAskedAt(path) && !isSecond ? "/" : path + location.search;
  const { isSilent, error } = useSilentSignOn({ back, given, isSecond, isRefused: refused !== undefined });
  useEffect(() => {
    document.title = "Sign in · Latchkey";
  }, []);
  const [isEndedElsewhere] = useState(wasEndedElsewhere);
  if (isSilent) return <SkeletonRows rows={6} />;
  const asks = refused instanceof ApiError && mustAsk(refused);
  return (
    <div className="alone">
      <header>
        <Brand />
      </header>
      <main>
        <div className="alone-head">
          <h1>Sign in to your store</h1>
          <p className="screen-lead">
            {isSecond ? "Sign in again to continue." : "Use your own account or an application key."}{" "}
            <HelpLink to={HELP.signIn} className="help">
              Help
            </HelpLink>
          </p>
        </div>
        <div className="stack">
          {isEndedElsewhere && (
            <p className="hint hint-warn" role="status">
              You signed out in another tab, so this tab is signed out too. Sign in again to continue here.
            </p>
          )}
          <div className="two">
            <WithMember back={back} given={given} error={error ?? (asks ? undefined : refused)} />
            {!isSecond && <WithKey />}
          </div>
        </div>
      </main>
    </div>
  );
}

type Silent = { back: string; given: string | undefined; isSecond: boolean; isRefused: boolean };

/** Begins a sign-on without a click, if the person has signed in with this browser and has not signed out. */
function useSilentSignOn({ back, given, isSecond, isRefused }: Silent) {
  const [store] = useState(() => {
    const signedInTo = places.silent();
    return isRefused || (given !== undefined && given !== signedInTo) ? undefined : signedInTo;
  });
  const [error, setError] = useState<unknown>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: begins once, where the page was opened
  useEffect(() => {
    if (store === undefined) return places.giveUpLeaving();
    // The person opened a second window with a button, so there the provider may show a page.
    leaveToSignIn(store, back, { prompt: isSecond ? undefined : "none" }).catch(setError);
  }, []);
  return { isSilent: store !== undefined && error === undefined, error };
}

const storeIsAskedAt = (path: string): boolean => path.replace(/\/$/, "") === SCREENS.signIn;

function WithKey() {
  const [clientId, setClientId] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const { isBusy, error, run } = useAct(() => signInWithKey(clientId.trim(), clientSecret.trim()));
  return (
    <section className="card" aria-labelledby="with-key">
      <Form onSubmit={run}>
        <h2 id="with-key">With an application key</h2>
        <p className="quiet">
          For first-time setup and for scripts. <code>latchkey store create</code> and <code>npm start</code>{" "}
          print a key. The key is not stored on this device.
        </p>
        <Field
          label="Client ID"
          value={clientId}
          onType={setClientId}
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="lkid_…"
        />
        <Field
          label="Client secret"
          type="password"
          value={clientSecret}
          onType={setClientSecret}
          required
          autoComplete="off"
          placeholder="lksk_…"
        />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy}>
            {isBusy ? "Signing in…" : "Sign in with the key"}
          </button>
        </div>
      </Form>
    </section>
  );
}
