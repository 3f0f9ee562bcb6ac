import { DOCUMENTATION } from "virtual:documentation";
import type { ReactNode } from "react";

type Props = { to: string; className?: string; children: ReactNode };

/** A link to a page of the documentation. In a new tab, because a session with a key does not survive a reload. */
export function HelpLink({ to, className, children }: Props) {
  return (
    <a className={className} href={DOCUMENTATION + to} target="_blank" rel="noreferrer">
      {children}
      <span className="only-read-out"> (opens in a new tab)</span>
    </a>
  );
}
