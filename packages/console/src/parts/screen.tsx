import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { helpAt } from "../help/help.ts";
import { HelpLink } from "../help/help-link.tsx";

type Props = {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** A link to the parent screen. */
  crumb?: { to: string; label: string };
  /** The content of the heading, if it differs from `title`. */
  heading?: ReactNode;
  children: ReactNode;
};

let isFirst = true;

/**
 * A screen focuses its heading, so that screen readers announce it, unless it is the first screen, which the
 * browser announces, or a field has `autoFocus`. It does so before paint; later it could take the focus from
 * an element that was just pressed.
 */
export function Screen({ title, lead, actions, crumb, heading, children }: Props) {
  const top = useRef<HTMLHeadingElement>(null);
  const [path] = useLocation();
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
        <div className="row screen-acts">
          {actions}
          <HelpLink to={helpAt(path)} className="help">
            Help
          </HelpLink>
        </div>
      </header>
      {children}
    </>
  );
}
