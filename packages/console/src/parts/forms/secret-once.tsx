import { DialogDismiss } from "@ariakit/react/dialog";
import { type ReactNode, useContext } from "react";
import { Above } from "./above.ts";
import { Copyable } from "./copy.tsx";
import { Modal } from "./modal.tsx";

type Props = {
  title: string;
  /** What is shown, by its name. */
  values: Record<string, string>;
  children?: ReactNode;
  /** What was pressed for it. It had the focus before the window that this one takes the place of, or before it was disabled meanwhile. */
  opener: HTMLElement | null;
};

/** Shows a secret above every screen, also where the one that asked for it was left before the answer came. */
export function useSecretOnce(): (secret: Props) => void {
  const { open, close } = useContext(Above);
  return (secret) => open(<SecretOnce {...secret} onClose={close} />);
}

/** A secret is there once: neither Escape nor a press beside the window takes it away. */
function SecretOnce({ title, values, children, opener, onClose }: Props & { onClose: () => void }) {
  return (
    <Modal title={title} isFirm opener={opener} onClose={onClose}>
      <p>The secret is shown here once. Copy it now to where it is needed; nobody can read it later.</p>
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
