import { DialogDismiss } from "@ariakit/react/dialog";
import type { Profile } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Modal } from "../parts/forms/modal.tsx";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { useMove } from "./carry-over.tsx";

type Props = { realmId: string; profile: Profile; onClose: () => void; onDone: () => Promise<unknown> };

/**
 * Changes the address or the client id. The form asks for the secret again, because a secret is sent only to
 * the address it was entered for.
 */
export function MoveProvider({ realmId, profile, onClose, onDone }: Props) {
  const admin = useAdmin();
  // The screen keeps fetching the profile. The change is based on the profile that filled the fields.
  const [seen] = useState(profile);
  const [address, setAddress] = useState(profile.discovery_url);
  const [clientId, setClientId] = useState(profile.client_id);
  const [secret, setSecret] = useState("");
  const { isBusy, error, run, dialog } = useMove(realmId, profile, async (choice) => {
    const change = {
      discovery_url: address.trim(),
      client_id: clientId.trim(),
      client_secret: secret.trim(),
      ...choice,
    };
    await admin.profiles(realmId).update(profile.id, change, { basedOn: seen });
    say(`${profile.name} is asked at its new address.`);
    onClose();
    await onDone();
  });
  return (
    <Modal title="Change address and client" isFirm={isBusy} onClose={onClose}>
      <Form onSubmit={run}>
        <p>
          For a provider that has moved, or that knows us as another client. It is read and examined before
          anything changes.
        </p>
        <Field
          label="Address"
          hint="The issuer, or its discovery document."
          value={address}
          onType={setAddress}
          required
          spellCheck={false}
          autoComplete="off"
        />
        <Field
          label="Client id"
          value={clientId}
          onType={setClientId}
          required
          spellCheck={false}
          autoComplete="off"
        />
        <Field
          label="Client secret"
          type="password"
          value={secret}
          onType={setSecret}
          required
          autoComplete="off"
        />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy}>
            {isBusy ? "Reading the provider…" : "Change it"}
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
      {dialog}
    </Modal>
  );
}
