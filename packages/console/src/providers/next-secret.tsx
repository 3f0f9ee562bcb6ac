import { DialogDismiss } from "@ariakit/react/dialog";
import type { Profile } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Field } from "../parts/field.tsx";
import { Modal } from "../parts/modal.tsx";
import { say } from "../parts/notices.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/use-act.ts";
import { useAdmin } from "../session/session.ts";

type Props = { realmId: string; profile: Profile; onClose: () => void; onDone: () => Promise<unknown> };

/** The old secret goes on working until the provider refuses it; then the new one takes its place by itself. */
export function NextSecret({ realmId, profile, onClose, onDone }: Props) {
  const admin = useAdmin();
  const [secret, setSecret] = useState("");
  const { isBusy, error, run } = useAct(async () => {
    await admin
      .profiles(realmId)
      .update(profile.id, { client_secret_next: secret.trim() }, { basedOn: profile });
    say("The new secret is kept, and will be used.");
    await onDone();
  }, onClose);
  return (
    <Modal title="Change the client secret" onClose={onClose}>
      <p>
        Make a second secret at the provider and paste it here. The old one is used until the provider refuses
        it, so nobody notices the change.
      </p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        <Field
          label="New client secret"
          type="password"
          autoComplete="off"
          required
          value={secret}
          onType={setSecret}
        />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy}>
            Keep the new secret
          </button>
          <DialogDismiss className="button button-plain">Cancel</DialogDismiss>
        </div>
      </form>
    </Modal>
  );
}
