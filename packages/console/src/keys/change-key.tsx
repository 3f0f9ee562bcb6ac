import type { ApplicationKey } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ChangeRole } from "../parts/forms/change-role.tsx";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Choices } from "../parts/forms/field.tsx";
import { useOpener } from "../parts/forms/modal.tsx";
import { useSecretOnce } from "../parts/forms/secret-once.tsx";
import { say } from "../parts/text/notices.tsx";
import { useAdmin } from "../session/session.ts";
import { requestsOf } from "./key-figures.ts";

type Props = { value: ApplicationKey; onClose: () => void };

const GRACES = [
  {
    value: "86400",
    label: "A day",
    why: "Time to put the new secret in every place where the program runs.",
  },
  { value: "604800", label: "A week", why: "For programs that are rarely released." },
  {
    value: "0",
    label: "None: end it now",
    why: "For a leaked secret. Programs that use it are refused at once.",
  },
] as const;

export function RotateKey({ value: key, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const opener = useOpener();
  const [grace, setGrace] = useState<(typeof GRACES)[number]["value"]>("86400");
  const showSecret = useSecretOnce();
  return (
    <Confirm
      title={`Rotate the secret of ${key.name}?`}
      says="The key gets a new secret, which is shown once. The old secret works for the time that you choose; after that, programs that still use it are refused."
      figures={[requestsOf(admin, key)]}
      act="Rotate secret"
      isMild={grace !== "0"}
      onClose={onClose}
      onConfirm={async () => {
        const { data } = await admin.applicationKeys.rotate(key.id, { grace_seconds: Number(grace) });
        showSecret({
          title: `The new secret of ${key.name}`,
          values: { "Client secret": data.client_secret },
          opener,
        });
        void queries.invalidateQueries({ queryKey: ["keys"] });
      }}
    >
      <Choices legend="How long the old secret works" options={GRACES} value={grace} onChoose={setGrace} />
    </Confirm>
  );
}

/** Changes the role of existing tokens too, because the service reads the role at each request. */
export function ChangeKeyRole({ value: key, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  return (
    <ChangeRole
      of={key}
      says="The new role applies within a second, also to access tokens that the program already has. Requests that the new role does not allow are refused."
      figures={[requestsOf(admin, key)]}
      onClose={onClose}
      onChange={async (role) => {
        await admin.applicationKeys.update(key.id, { name: key.name, role });
        await queries.invalidateQueries({ queryKey: ["keys"] });
      }}
    />
  );
}

type DeleteProps = Props & { onDeleted?: (() => void) | undefined };

export function DeleteKey({ value: key, onClose, onDeleted }: DeleteProps) {
  const admin = useAdmin();
  const queries = useQueryClient();
  return (
    <Confirm
      title={`Delete ${key.name}?`}
      says="Its secrets and all its access tokens stop working within a second. The program that uses the key stops working."
      figures={[requestsOf(admin, key)]}
      act="Delete key"
      name={{ what: "key’s name", is: key.name }}
      onClose={onClose}
      onConfirm={async () => {
        await admin.applicationKeys.delete(key.id);
        say(`${key.name} is deleted.`);
        onDeleted?.();
        queries.removeQueries({ queryKey: ["keys", key.id] });
        await queries.invalidateQueries({ queryKey: ["keys"] });
      }}
    />
  );
}
