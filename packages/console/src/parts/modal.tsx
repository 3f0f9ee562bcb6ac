import { Dialog, DialogHeading } from "@ariakit/react/dialog";
import type { ReactNode } from "react";

type Props = { title: string; onClose: () => void; children: ReactNode };

/** A window above the screen: it keeps the focus, and Escape leaves it. */
export function Modal({ title, onClose, children }: Props) {
  return (
    <Dialog open onClose={onClose} backdrop={<div className="dialog-back" />} className="dialog">
      <DialogHeading render={(props) => <h2 {...props}>{title}</h2>} />
      {children}
    </Dialog>
  );
}
