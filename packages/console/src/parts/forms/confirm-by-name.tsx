import { DialogDismiss } from "@ariakit/react/dialog";
import { type ReactNode, useId, useState } from "react";
import { Problem } from "../text/problem.tsx";
import { Form } from "./form.tsx";
import { Modal } from "./modal.tsx";
import { isSameName } from "./same-name.ts";
import { useAct } from "./use-act.ts";

type Props = {
  title: string;
  children: ReactNode;
  /** What must be typed: the name of what will be gone. */
  name: string;
  /** What kind of thing that name is. */
  what: string;
  act: string;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
};

/** What cannot be undone asks for the name of what it ends. */
export function ConfirmByName({ title, children, name, what, act, onClose, onConfirm }: Props) {
  const [typed, setTyped] = useState("");
  const { isBusy, error, run } = useAct(onConfirm, onClose);
  const id = useId();
  const isMatch = isSameName(typed, name);
  return (
    <Modal title={title} isFirm={isBusy} onClose={onClose}>
      <div className="stack-tight">{children}</div>
      <Form onSubmit={() => isMatch && run()}>
        <label className="field" htmlFor={id}>
          <span>
            To go on, type the {what}: <code>{name}</code>
          </span>
          <input
            id={id}
            className="input"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button button-bad" disabled={!isMatch || isBusy}>
            {act}
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
    </Modal>
  );
}
