import { DialogDismiss } from "@ariakit/react/dialog";
import type { ApplicationKey } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ChangeRole } from "../parts/forms/change-role.tsx";
import { ConfirmByName } from "../parts/forms/confirm-by-name.tsx";
import { Choices } from "../parts/forms/field.tsx";
import { Modal, useOpener } from "../parts/forms/modal.tsx";
import { useSecretOnce } from "../parts/forms/secret-once.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";

type Props = { value: ApplicationKey; onClose: () => void };

const GRACES = [
  { value: "86400", label: "A day", why: "Time to bring the new secret to wherever the program runs." },
  { value: "604800", label: "A week", why: "For programs that are released rarely." },
  {
    value: "0",
    label: "None: end it now",
    why: "The old secret has leaked. Programs that use it are refused at once.",
  },
] as const;

export function RotateKey({ value: key, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const opener = useOpener();
  const [grace, setGrace] = useState<(typeof GRACES)[number]["value"]>("86400");
  const showSecret = useSecretOnce();
  const { isBusy, error, run } = useAct(async () => {
    const { data } = await admin.applicationKeys.rotate(key.id, { grace_seconds: Number(grace) });
    showSecret({
      title: `The new secret of ${key.name}`,
      values: { "Client secret": data.client_secret },
      opener,
    });
    void queries.invalidateQueries({ queryKey: ["keys"] });
  }, onClose);
  return (
    <Modal title={`Rotate the secret of ${key.name}`} isFirm={isBusy} onClose={onClose}>
      <p>The key gets a new secret. How long should the old one go on working?</p>
      <Choices legend="How long the old secret works" options={GRACES} value={grace} onChoose={setGrace} />
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button type="button" className="button" disabled={isBusy} onClick={() => run()}>
          Make a new secret
        </button>
        <DialogDismiss className="button button-plain" disabled={isBusy}>
          Cancel
        </DialogDismiss>
      </div>
    </Modal>
  );
}

/** Changes the role of existing tokens too, because the service reads the role at each request. */
export function ChangeKeyRole({ value: key, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  return (
    <ChangeRole
      of={key}
      onClose={onClose}
      onChange={async (role) => {
        await admin.applicationKeys.update(key.id, { name: key.name, role });
        await queries.invalidateQueries({ queryKey: ["keys"] });
      }}
    />
  );
}

export function DeleteKey({
  value: key,
  onClose,
  onDeleted,
}: Props & { onDeleted?: (() => void) | undefined }) {
  const admin = useAdmin();
  const queries = useQueryClient();
  return (
    <ConfirmByName
      title={`Delete ${key.name}?`}
      name={key.name}
      what="key’s name"
      act="Delete the key"
      onClose={onClose}
      onConfirm={async () => {
        await admin.applicationKeys.delete(key.id);
        say(`${key.name} is deleted.`);
        onDeleted?.();
        queries.removeQueries({ queryKey: ["keys", key.id] });
        await queries.invalidateQueries({ queryKey: ["keys"] });
      }}
    >
      <p>
        Its secrets and every access token of it end within a second. The program that uses it stops working.
      </p>
    </ConfirmByName>
  );
}
