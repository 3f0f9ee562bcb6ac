import { Dialog, DialogHeading } from "@ariakit/react/dialog";
import type { ReactNode } from "react";

type Props = {
  title: string;
  onClose: () => void;
  /** It stays until one of its acts is chosen. */
  isFirm?: boolean;
  children: ReactNode;
};

/** A window above the screen: it keeps the focus, and Escape leaves it. */
export function Modal({ title, onClose, isFirm = false, children }: Props) {
  return (
    <Dialog
      open
      onClose={onClose}
      hideOnEscape={!isFirm}
      hideOnInteractOutside={!isFirm}
      backdrop={<div className="dialog-back" />}
      className="dialog"
    >
      <DialogHeading render={(props) => <h2 {...props}>{title}</h2>} />
      {children}
    </Dialog>
  );
}
