import { DialogDismiss } from "@ariakit/react/dialog";
import type { Profile } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Modal } from "../parts/forms/modal.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";

type Props = { realmId: string; profile: Profile; onClose: () => void; onDone: () => Promise<unknown> };

export const isWithoutSecret = ({ meta }: Profile): boolean => meta.has_client_secret === false;

/**
 * The service uses the old secret until the provider refuses it; then the new secret replaces it. A provider
 * that was saved without a secret cannot be enabled with a next secret only.
 */
export function NextSecret({ realmId, profile, onClose, onDone }: Props) {
  const admin = useAdmin();
  // The secret belongs to the address and client id at the time the dialog opened, even if another person changes them.
  const [seen] = useState(profile);
  const [secret, setSecret] = useState("");
  const isFirst = isWithoutSecret(seen);
  const { isBusy, error, run } = useAct(async () => {
    const change = { [isFirst ? "client_secret" : "client_secret_next"]: secret.trim() };
    await admin.profiles(realmId).update(profile.id, change, { basedOn: seen });
    say(isFirst ? "The secret is kept." : "The new secret is kept, and will be used.");
    await onDone();
  }, onClose);
  return (
    <Modal
      title={isFirst ? "Enter the client secret" : "Change the client secret"}
      isFirm={isBusy}
      onClose={onClose}
    >
      <p>
        {isFirst
          ? "Paste the secret that the provider has given you. It is kept sealed, and never shown again."
          : "Make a second secret at the provider and paste it here. The old one is used until the provider refuses it, so nobody notices the change."}
      </p>
      <Form onSubmit={run}>
        <Field
          label={isFirst ? "Client secret" : "New client secret"}
          type="password"
          autoComplete="off"
          required
          value={secret}
          onType={setSecret}
        />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy}>
            {isFirst ? "Keep the secret" : "Keep the new secret"}
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
    </Modal>
  );
}
