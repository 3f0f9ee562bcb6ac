import type { Profile } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Field } from "../parts/forms/field.tsx";
import { say } from "../parts/text/notices.tsx";
import { useAdmin } from "../session/session.ts";
import { signOnsThrough } from "./provider-figures.ts";

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
  return (
    <Confirm
      title={`${isFirst ? "Enter" : "Replace"} the client secret of ${seen.name}?`}
      says={
        isFirst
          ? "Paste the secret that the provider has given you. It is stored encrypted and never shown again."
          : "Create a second secret at the provider and paste it here. Latchkey uses the old one until the provider refuses it, and then the new one. If the new one is wrong, sign-ons fail from then on."
      }
      figures={isFirst ? [] : [signOnsThrough(admin, seen)]}
      act={isFirst ? "Save secret" : "Replace secret"}
      isMild
      isReady={secret.trim() !== ""}
      onClose={onClose}
      onConfirm={async () => {
        const change = { [isFirst ? "client_secret" : "client_secret_next"]: secret.trim() };
        await admin.profiles(realmId).update(profile.id, change, { basedOn: seen });
        say(
          isFirst
            ? "The secret is saved."
            : "The new secret is saved. Latchkey uses it when the old one ends.",
        );
        await onDone();
      }}
    >
      <Field
        label={isFirst ? "Client secret" : "New client secret"}
        type="password"
        autoComplete="off"
        value={secret}
        onType={setSecret}
      />
    </Confirm>
  );
}
