import { DialogDescription, DialogDismiss } from "@ariakit/react/dialog";
import { type ReactNode, useRef, useState } from "react";
import { Problem } from "../text/problem.tsx";
import { Field } from "./field.tsx";
import { type Figure, Figures } from "./figures.tsx";
import { Modal } from "./modal.tsx";
import { isSameName } from "./same-name.ts";
import { useAct } from "./use-act.ts";

type Props = {
  /** A question: "Disable Company account?" */
  title: string;
  /** The effect of agreeing, in a sentence or two. */
  says: ReactNode;
  /** How many people, programs or messages the act concerns. Read when the dialog opens. */
  figures?: readonly Figure[];
  /** The button's text, a verb: "Disable provider". */
  act: string;
  /** For an act that stops nothing by itself. */
  isMild?: boolean;
  /** For the most dangerous acts: the person types this text to agree. `what` is its kind, in words. */
  name?: { what: string; is: string };
  /** False while a choice or a field among the children is incomplete. */
  isReady?: boolean;
  /** The element to focus after closing. Default: the element that has the focus now. */
  opener?: HTMLElement | null;
  /** Choices and fields of the act. */
  children?: ReactNode;
  onConfirm: () => Promise<unknown>;
  /** Called after the act. Default: `onClose`. */
  onDone?: () => void;
  onClose: () => void;
};

/**
 * The confirmation of every act that redirects trust or stops people or programs. Only a press of its button
 * confirms: Enter in a field does nothing, because the fields are in no form. Without a field, Cancel has the
 * focus at first.
 */
export function Confirm({ title, says, act, opener = null, onConfirm, onClose, ...rest }: Props) {
  const { figures = [], isMild = false, name, isReady = true, onDone = onClose, children } = rest;
  const [typed, setTyped] = useState("");
  const { isBusy, error, run } = useAct(onConfirm, onDone);
  const cancel = useRef<HTMLButtonElement>(null);
  const isMatch = !name || isSameName(typed, name.is);
  const hasField = name !== undefined || children !== undefined;
  return (
    <Modal
      title={title}
      isFirm={isBusy}
      opener={opener}
      onClose={onClose}
      {...(!hasField && { initialFocus: cancel })}
    >
      <DialogDescription render={<p />}>{says}</DialogDescription>
      {figures.length > 0 && <Figures of={figures} />}
      {children}
      {name && (
        <Field
          label={
            <>
              To confirm, type the {name.what}: <code>{name.is}</code>
            </>
          }
          value={typed}
          onType={setTyped}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button
          type="button"
          className={isMild ? "button" : "button button-bad"}
          disabled={!isMatch || !isReady || isBusy}
          // The second click of a double click, on a button that opened the dialog, may land here.
          onClick={({ detail }) => detail < 2 && run()}
        >
          {act}
        </button>
        <DialogDismiss ref={cancel} className="button button-plain" disabled={isBusy}>
          Cancel
        </DialogDismiss>
      </div>
    </Modal>
  );
}
