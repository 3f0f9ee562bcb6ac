import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { Link } from "wouter";

type Props = {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** Where one comes from. */
  crumb?: { to: string; label: string };
  /** What the heading shows, where that is more than its text. */
  heading?: ReactNode;
  children: ReactNode;
};

let isFirst = true;

/**
 * A screen's heading gets the focus when one comes to it, so that it is read out; not on the first one, which the browser reads, and not
 * where a field of the screen has taken it (`autoFocus`). Before the screen can be seen: later it would take it from what was pressed.
 */
export function Screen({ title, lead, actions, crumb, heading, children }: Props) {
  const top = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Latchkey`;
  }, [title]);
  useLayoutEffect(() => {
    if (!isFirst && document.activeElement?.tagName !== "INPUT") top.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  return (
    <>
      <header className="screen-head">
        <div>
          {crumb && (
            <Link className="crumb" href={crumb.to}>
              {crumb.label}
            </Link>
          )}
          <h1 ref={top} tabIndex={-1}>
            {heading ?? title}
          </h1>
          {lead && <p className="screen-lead">{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </>
  );
}
