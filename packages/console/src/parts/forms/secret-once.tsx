import { DialogDismiss } from "@ariakit/react/dialog";
import { type ReactNode, useContext } from "react";
import { Above } from "./above.ts";
import { Copyable } from "./copy.tsx";
import { Modal } from "./modal.tsx";

type Props = {
  title: string;
  /** The secrets by their labels. */
  values: Record<string, string>;
  children?: ReactNode;
  /**
   * The button that was pressed, which may be disabled by now or have been in a dialog that closed. Gets the
   * focus afterwards.
   */
  opener: HTMLElement | null;
};

/** Shows a secret above every screen, even if the person has left the screen before the answer came. */
export function useSecretOnce(): (secret: Props) => void {
  const { open, close } = useContext(Above);
  return (secret) => open(<SecretOnce {...secret} onClose={close} />);
}

/** A secret is shown once, so neither Escape nor a click beside the dialog closes it. */
function SecretOnce({ title, values, children, opener, onClose }: Props & { onClose: () => void }) {
  return (
    <Modal title={title} isFirm opener={opener} onClose={onClose}>
      <p>The secret is shown only once. Copy it now to where it is needed.</p>
      {Object.entries(values).map(([name, value]) => (
        <div key={name} className="stack-tight">
          <strong>{name}</strong>
          <Copyable text={value} what={name.toLowerCase()} />
        </div>
      ))}
      {children}
      <div className="form-actions">
        <DialogDismiss className="button">I have copied it</DialogDismiss>
      </div>
    </Modal>
  );
}
