import { useSyncExternalStore } from "react";

/** A line at the bottom of the window that says what was done. Screen readers announce it. */
let text = "";
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const SHOWN_MS = 6000;

function show(next: string): void {
  text = next;
  for (const listener of listeners) listener();
}

export function say(what: string): void {
  clearTimeout(timer);
  show(what);
  timer = setTimeout(() => show(""), SHOWN_MS);
}

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => text,
  );
  return (
    <div className="notices" role="status">
      {shown && <p className="notice">{shown}</p>}
    </div>
  );
}
