import type { Profile, ProfileLinks } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Copyable } from "../parts/forms/copy.tsx";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { RECIPES } from "./recipes.ts";
import { isRegistered, type Step } from "./steps.ts";

type RegisterProps = { links: ProfileLinks; recipe: string; onNext: () => void };

export function Register({ links, recipe, onNext }: RegisterProps) {
  const { where, choose } =
    RECIPES.find(({ id }) => id === recipe) ?? (RECIPES.at(-1) as (typeof RECIPES)[0]);
  return (
    <div className="form">
      <h2>Register this callback at the provider</h2>
      <div className="stack-tight">
        <strong>Callback</strong>
        <Copyable text={links["callback-endpoint"]} what="callback" />
      </div>
      <dl className="facts">
        <dt>Where</dt>
        <dd>{where}</dd>
        <dt>What to choose</dt>
        <dd>{choose}</dd>
        <dt>Sign-out, if it has it</dt>
        <dd>
          <Copyable text={links["backchannel-logout-endpoint"]} what="back-channel logout address" />
        </dd>
      </dl>
      <div className="form-actions">
        <button type="button" className="button" onClick={onNext}>
          It is registered
        </button>
      </div>
    </div>
  );
}

type CredentialsProps = { realmId: string; profile: Profile; onStep: (step: Step) => void };

export function Credentials({ realmId, profile, onStep }: CredentialsProps) {
  const admin = useAdmin();
  const queries = useQueryClient();
  // The client id and secret belong to the discovery URL that was shown when the step began.
  const [seen] = useState(profile);
  const isSaved = isRegistered(profile);
  const [clientId, setClientId] = useState(isSaved ? profile.client_id : "");
  const [secret, setSecret] = useState("");
  const { isBusy, error, run } = useAct(async () => {
    const change = { client_id: clientId.trim(), client_secret: secret.trim() };
    await admin.profiles(realmId).update(profile.id, change, { basedOn: seen });
    await queries.invalidateQueries({ queryKey: ["providers"] });
    onStep("test");
  });
  return (
    <Form onSubmit={run}>
      <h2>What did the provider give you?</h2>
      {isSaved && (
        <p className="quiet">Client id and secret are saved. Type the secret again only to replace them.</p>
      )}
      <Field
        label="Client id"
        value={clientId}
        onType={setClientId}
        required
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label="Client secret"
        hint="It is kept sealed, and never shown again."
        type="password"
        value={secret}
        onType={setSecret}
        required
        autoComplete="off"
      />
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button type="submit" className="button" disabled={isBusy}>
          {isBusy ? "Saving…" : "Go on"}
        </button>
        {isSaved && (
          <button type="button" className="button button-plain" onClick={() => onStep("test")}>
            Keep them, and test
          </button>
        )}
        <button type="button" className="button button-plain" onClick={() => onStep("callback")}>
          Back to the callback
        </button>
      </div>
    </Form>
  );
}
