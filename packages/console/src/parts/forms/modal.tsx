import { Dialog, DialogHeading } from "@ariakit/react/dialog";
import { type ReactNode, type RefObject, useState } from "react";

type Props = {
  title: string;
  onClose: () => void;
  /** Escape does not close it. For a dialog that needs a choice, or that waits for the answer of an act. */
  isFirm?: boolean;
  /** The element to focus after closing. Default: the element that has the focus now. */
  opener?: HTMLElement | null;
  /** The element to focus first. Default: the first control. */
  initialFocus?: RefObject<HTMLElement | null>;
  children: ReactNode;
};

/** A dialog above the screen. It keeps the focus inside, and Escape closes it. */
export function Modal({ title, onClose, isFirm = false, opener = null, initialFocus, children }: Props) {
  return (
    <Dialog
      open
      onClose={onClose}
      hideOnEscape={!isFirm}
      hideOnInteractOutside={(event) => !isFirm && !isSecondClick(event)}
      finalFocus={opener}
      {...(initialFocus && { initialFocus })}
      backdrop={<div className="dialog-back" />}
      className="dialog"
    >
      <DialogHeading render={(props) => <h2 {...props}>{title}</h2>} />
      {children}
    </Dialog>
  );
}

/** The second click of a double click, which lands beside the new dialog and would close it. */
const isSecondClick = (event: object): boolean => "detail" in event && Number(event.detail) > 1;

/** The element that opened the dialog: the focused element at the first render. */
export const useOpener = (): HTMLElement | null =>
  useState(() => document.activeElement as HTMLElement | null)[0];
