import { DialogDismiss } from "@ariakit/react/dialog";
import type { Member } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ChangeRole } from "../parts/forms/change-role.tsx";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Choices, Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Modal } from "../parts/forms/modal.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { ROLES } from "../parts/text/role-words.ts";
import { type Role, useAdmin } from "../session/session.ts";
import { otherAdministrators } from "./administrators.ts";

type Props = { member: Member; onClose: () => void };

type InviteProps = { onClose: () => void; onInvited: (member: Member) => void };

export function Invite({ onClose, onInvited }: InviteProps) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("support");
  const { isBusy, error, run } = useAct(async () => {
    const member = { email: email.trim(), role, ...(name.trim() && { name: name.trim() }) };
    const { data } = await admin.members.create(member);
    onInvited(data);
    await queries.invalidateQueries({ queryKey: ["members"] });
  });
  return (
    <Modal title="Invite a colleague" isFirm={isBusy} onClose={onClose}>
      <Form onSubmit={run}>
        <Field label="Name" value={name} onType={setName} maxLength={255} autoComplete="off" />
        <Field
          label="E-mail"
          hint="The address that their provider has verified. After the first sign-on their account at the provider counts, not the address."
          type="email"
          value={email}
          onType={setEmail}
          required
          autoComplete="off"
        />
        <Choices legend="Role" options={ROLES} value={role} onChoose={setRole} />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy}>
            Invite
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
    </Modal>
  );
}

export function ChangeMemberRole({ member, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  return (
    <ChangeRole
      of={member}
      says="The new role applies within a second, also where this person is signed in now."
      figures={[otherAdministrators(admin, member)]}
      onClose={onClose}
      onChange={async (role) => {
        await admin.members.update(member.id, { role });
        await queries.invalidateQueries({ queryKey: ["members"] });
      }}
    />
  );
}

export function RemoveMember({ member, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  return (
    <Confirm
      title={`Remove ${member.name}?`}
      says="They are signed out within a second, and cannot sign in until they are invited again. The events of what they did stay."
      figures={[otherAdministrators(admin, member)]}
      act="Remove member"
      name={{ what: "e-mail address", is: member.email }}
      onClose={onClose}
      onConfirm={async () => {
        await admin.members.delete(member.id);
        say(`${member.name} is removed.`);
        await queries.invalidateQueries({ queryKey: ["members"] });
      }}
    />
  );
}
