import type { Profile } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Field } from "../parts/forms/field.tsx";
import { say } from "../parts/text/notices.tsx";
import { useAdmin } from "../session/session.ts";
import { useMove } from "./carry-over.tsx";
import { providerFigures } from "./provider-figures.ts";

type Props = { realmId: string; profile: Profile; onClose: () => void; onDone: () => Promise<unknown> };

/**
 * Changes the address or the client id. The dialog asks for the secret again, because a secret is sent only to
 * the address it was entered for.
 */
export function MoveProvider({ realmId, profile, onClose, onDone }: Props) {
  const admin = useAdmin();
  // The screen keeps fetching the profile. The change is based on the profile that filled the fields.
  const [seen] = useState(profile);
  const [address, setAddress] = useState(profile.discovery_url);
  const [clientId, setClientId] = useState(profile.client_id);
  const [secret, setSecret] = useState("");
  const { move, dialog } = useMove(realmId, profile, async (choice) => {
    const change = {
      discovery_url: address.trim(),
      client_id: clientId.trim(),
      client_secret: secret.trim(),
      ...choice,
    };
    await admin.profiles(realmId).update(profile.id, change, { basedOn: seen });
    say(`${profile.name} has a new address or client.`);
    onClose();
    await onDone();
  });
  return (
    <Confirm
      title={`Change address and client of ${profile.name}?`}
      says="Latchkey reads and checks the new address first, and changes nothing if that fails. From the next sign-on, people sign in at the new address."
      figures={providerFigures(admin, realmId, profile)}
      act="Move provider"
      isReady={[address, clientId, secret].every((typed) => typed.trim() !== "")}
      onClose={onClose}
      // The change closes the dialog, because the question about the people opens above it.
      onDone={() => {}}
      onConfirm={move}
    >
      <div className="form">
        <Field
          label="Address"
          hint="The issuer, or its discovery document."
          value={address}
          onType={setAddress}
          spellCheck={false}
          autoComplete="off"
        />
        <Field
          label="Client ID"
          value={clientId}
          onType={setClientId}
          spellCheck={false}
          autoComplete="off"
        />
        <Field label="Client secret" type="password" value={secret} onType={setSecret} autoComplete="off" />
      </div>
      {dialog}
    </Confirm>
  );
}
