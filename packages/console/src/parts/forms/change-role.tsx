import type { Role } from "../../session/session.ts";
import { say } from "../text/notices.tsx";
import { ROLES } from "../text/role-words.ts";
import { Confirm } from "./confirm.tsx";
import { Choices } from "./field.tsx";
import type { Figure } from "./figures.tsx";
import { useDraft } from "./use-draft.ts";

type Props = {
  /** A member or an application key. */
  of: { name: string; role: Role };
  says: string;
  figures: readonly Figure[];
  onChange: (role: Role) => Promise<unknown>;
  onClose: () => void;
};

export function ChangeRole({ of: { name, role: now }, says, figures, onChange, onClose }: Props) {
  const { value: role, isChanged, type } = useDraft(now);
  return (
    <Confirm
      title={`Change the role of ${name}?`}
      says={says}
      figures={figures}
      act="Change role"
      isReady={isChanged}
      onClose={onClose}
      onConfirm={async () => {
        await onChange(role);
        say(`${name} is ${role} within a second.`);
      }}
    >
      <Choices legend="Role" options={ROLES} value={role} onChoose={type} />
    </Confirm>
  );
}
