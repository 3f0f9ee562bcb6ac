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
  /** The text to type: the name of the resource that is deleted. */
  name: string;
  /** The kind of resource, in words. */
  what: string;
  act: string;
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
};

/** An act that cannot be undone asks for the name of its resource. */
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
