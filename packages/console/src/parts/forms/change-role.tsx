import { DialogDismiss } from "@ariakit/react/dialog";
import type { Role } from "../../session/session.ts";
import { say } from "../text/notices.tsx";
import { Problem } from "../text/problem.tsx";
import { ROLES } from "../text/role-words.ts";
import { Choices } from "./field.tsx";
import { Modal } from "./modal.tsx";
import { useAct } from "./use-act.ts";
import { useDraft } from "./use-draft.ts";

type Props = {
  /** A member or an application key. */
  of: { name: string; role: Role };
  onChange: (role: Role) => Promise<unknown>;
  onClose: () => void;
};

export function ChangeRole({ of: { name, role: now }, onChange, onClose }: Props) {
  const { value: role, isChanged, type } = useDraft(now);
  const { isBusy, error, run } = useAct(async () => {
    await onChange(role);
    say(`${name} is ${role} within a second.`);
  }, onClose);
  return (
    <Modal title={`The role of ${name}`} isFirm={isBusy} onClose={onClose}>
      <Choices legend="Role" options={ROLES} value={role} onChoose={type} />
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button type="button" className="button" disabled={isBusy || !isChanged} onClick={() => run()}>
          Change the role
        </button>
        <DialogDismiss className="button button-plain" disabled={isBusy}>
          Cancel
        </DialogDismiss>
      </div>
    </Modal>
  );
}
