import { ApiError } from "@latchkey/sdk/admin";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { Brand } from "../frame/frame.tsx";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { continuationOf } from "../session/continuation.ts";
import { findKept, findPlace, isSame, leaveToSignIn, mustAsk, wasSignedIn } from "../session/member.ts";
import { signInWithKey } from "../session/session.ts";
import { WithMember } from "./with-member.tsx";

/** Shown at every path until a person is signed in. Does not change the path. */
export function SignIn({ refused }: { refused: unknown }) {
  const [path] = useLocation();
  const isSecond = continuationOf(path + location.search) !== undefined;
  const back = path === "/sign-in" && !isSecond ? "/" : path + location.search;
  const asks = refused instanceof ApiError && mustAsk(refused);
  const place = findPlace(location.search);
  const isKept = place !== undefined && isSame(place, findKept());
  const isSilent = refused === undefined && isKept && (isSecond || wasSignedIn());
  useEffect(() => {
    // The person opened a second window with a button, so there the provider may show a page.
    if (isSilent) void leaveToSignIn(place, back, isSecond ? undefined : "none");
  });
  useEffect(() => {
    document.title = "Sign in · Latchkey";
  }, []);
  if (isSilent) return <SkeletonRows rows={6} />;
  return (
    <div className="alone">
      <header>
        <Brand />
      </header>
      <main>
        <div className="alone-head">
          <h1>Sign in to your store</h1>
          <p className="screen-lead">
            Nothing that you type here is kept on this device: a reload forgets it.
          </p>
        </div>
        <div className="two">
          <WithMember back={back} error={asks ? undefined : refused} />
          {!isSecond && <WithKey />}
        </div>
      </main>
    </div>
  );
}

function WithKey() {
  const [clientId, setClientId] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const { isBusy, error, run } = useAct(() => signInWithKey(clientId.trim(), clientSecret.trim()));
  return (
    <section className="card" aria-labelledby="with-key">
      <Form onSubmit={run}>
        <h2 id="with-key">With an application key</h2>
        <p className="quiet">
          For the first minute, and for programs. <code>latchkey store create</code> and{" "}
          <code>npm start</code> print one.
        </p>
        <Field
          label="Client id"
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
