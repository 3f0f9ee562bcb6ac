import { Dialog, DialogHeading } from "@ariakit/react/dialog";
import { type ReactNode, useState } from "react";

type Props = {
  title: string;
  onClose: () => void;
  /** It stays: until one of its acts is chosen; or, while one is under way, until its answer is there, which nobody could read without it. */
  isFirm?: boolean;
  /** What the focus goes back to, where that is not what has it now. */
  opener?: HTMLElement | null;
  children: ReactNode;
};

/** A window above the screen: it keeps the focus, and Escape leaves it. */
export function Modal({ title, onClose, isFirm = false, opener = null, children }: Props) {
  return (
    <Dialog
      open
      onClose={onClose}
      hideOnEscape={!isFirm}
      hideOnInteractOutside={(event) => !isFirm && !isSecondClick(event)}
      finalFocus={opener}
      backdrop={<div className="dialog-back" />}
      className="dialog"
    >
      <DialogHeading render={(props) => <h2 {...props}>{title}</h2>} />
      {children}
    </Dialog>
  );
}

/** Of somebody who opens a window by a double click: it falls beside the window, and would close it again. */
const isSecondClick = (event: object): boolean => "detail" in event && Number(event.detail) > 1;

/** What was pressed for a window, as it is first drawn. */
export const useOpener = (): HTMLElement | null =>
  useState(() => document.activeElement as HTMLElement | null)[0];
