import { RECIPES } from "virtual:recipes";
import type { Profile } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { UNREGISTERED } from "../parts/profiles.ts";
import { Problem } from "../parts/text/problem.tsx";
import { Words } from "../parts/text/words.tsx";
import { useAdmin } from "../session/session.ts";
import { isRegistered, type Step } from "./steps.ts";

type Props = { realmId: string; profile: Profile; recipe: string; onStep: (step: Step) => void };

/** The third step: what the provider's administrator gives for the registered client. */
export function Credentials({ realmId, profile, recipe, onStep }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  // The client id and secret belong to the discovery URL that was shown when the step began.
  const [seen] = useState(profile);
  const isSaved = isRegistered(profile);
  const [clientId, setClientId] = useState(profile.client_id === UNREGISTERED ? "" : profile.client_id);
  const [secret, setSecret] = useState("");
  const { isBusy, error, run } = useAct(async () => {
    const change = { client_id: clientId.trim(), client_secret: secret.trim() };
    await admin.profiles(realmId).update(profile.id, change, { basedOn: seen });
    await queries.invalidateQueries({ queryKey: ["providers"] });
    onStep("test");
  });
  const known = RECIPES[recipe];
  return (
    <Form onSubmit={run}>
      <h2>What did the provider give you?</h2>
      {isSaved && (
        <p className="quiet">Client ID and secret are saved. Type the secret again only to replace them.</p>
      )}
      {known?.console.secret && (
        <p className="hint">
          In {known.name}: <Words of={known.console.secret} />
        </p>
      )}
      <Field
        label="Client ID"
        value={clientId}
        onType={setClientId}
        required
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label="Client secret"
        hint="Stored encrypted, and never shown again."
        type="password"
        value={secret}
        onType={setSecret}
        required
        autoComplete="off"
      />
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button type="submit" className="button" disabled={isBusy}>
          {isBusy ? "Saving…" : "Continue"}
        </button>
        {isSaved && (
          <button type="button" className="button button-plain" onClick={() => onStep("test")}>
            Keep them, and test
          </button>
        )}
        <button type="button" className="button button-plain" onClick={() => onStep("callback")}>
          Back to the values
        </button>
      </div>
    </Form>
  );
}
