import { type KeyboardEvent, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { SearchAnywhere } from "../palette/search-anywhere.tsx";
import { Above, useAbove } from "../parts/forms/above.ts";
import { SignOut } from "../parts/sign-out.tsx";
import { Notices } from "../parts/text/notices.tsx";
import { useEnd } from "../session/end.ts";
import { useOtherTabs } from "../session/other-tabs.ts";
import { useRenewal } from "../session/renewal.ts";
import { useSession } from "../session/session.ts";
import { StoreSwitch } from "../stores/store-switch.tsx";
import { useLiveEvents } from "./live.ts";
import { loaded } from "./loaded.ts";
import { MENU } from "./menu.ts";
import { insteadOfContinue, Unshown } from "./unshown.tsx";

/** Loaded on use, because most visits do not need the dialog. */
const loadContinue = async () => (await import("../session/continue.tsx")).Continue;

/** The frame of every screen: the menu, and the signed-in person. */
export function Frame({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [path] = useLocation();
  const menuButton = useRef<HTMLButtonElement>(null);
  const above = useAbove();
  const isOver = useEnd();
  useLiveEvents(!isOver);
  useRenewal(!isOver);
  useOtherTabs();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path closes the menu
  useEffect(() => setOpen(false), [path]);
  useTop();
  const onKeyDown = ({ key, target, currentTarget }: KeyboardEvent) => {
    // React also passes on the keys of a dialog that the header has opened.
    if (key !== "Escape" || !isOpen || !currentTarget.contains(target as Node)) return;
    setOpen(false);
    menuButton.current?.focus();
  };
  return (
    <div className="shell">
      <a className="skip button" href="#main">
        Skip to the screen
      </a>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu, wherever in it the focus is */}
      <header className="side" onKeyDown={onKeyDown}>
        <div className="side-top">
          <Brand />
          <SearchAnywhere isOff={isOver} />
          <button
            type="button"
            ref={menuButton}
            className="menu-button button button-plain button-small"
            aria-expanded={isOpen}
            aria-controls="menu"
            onClick={() => setOpen(!isOpen)}
          >
            Menu
          </button>
        </div>
        <div className="side-body" id="menu" data-open={isOpen}>
          <Menu
            path={path}
            onChoose={(to) => {
              setOpen(false);
              if (isOpen && path === to) focusHeading();
            }}
          />
          <Who />
        </div>
      </header>
      <main className="main" id="main" tabIndex={-1}>
        <Above value={above.acts}>{children}</Above>
      </main>
      <Notices />
      {above.shown}
      {isOver && (
        <Unshown instead={insteadOfContinue}>
          {() => {
            const Continue = loaded(loadContinue);
            return (
              <Suspense>
                <Continue />
              </Suspense>
            );
          }}
        </Unshown>
      )}
    </div>
  );
}

function Menu({ path, onChoose }: { path: string; onChoose: (to: string) => void }) {
  return (
    <nav className="nav" aria-label="Console">
      {MENU.map(({ label, screens }) => (
        <ul key={label} aria-label={label}>
          {screens
            .filter(({ isUnlisted }) => !isUnlisted)
            .map(({ to, name }) => (
              <li key={to}>
                <Link
                  href={to}
                  aria-current={isAt(path, to) ? "page" : undefined}
                  onClick={() => onChoose(to)}
                >
                  {name}
                </Link>
              </li>
            ))}
        </ul>
      ))}
    </nav>
  );
}

/**
 * For a link to the current screen, which is not drawn again, while the chosen link disappears with the menu.
 */
const focusHeading = () => document.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });

/**
 * Scrolls to the top after a navigation, which wouter announces by this event. For Back the browser restores
 * the position.
 */
function useTop(): void {
  useEffect(() => {
    const toTop = () => scrollTo(0, 0);
    addEventListener("pushState", toTop);
    return () => removeEventListener("pushState", toTop);
  }, []);
}

/** A screen below another marks the other's link as current. */
function isAt(path: string, to: string): boolean {
  if (path.startsWith("/realms/")) return to === "/providers";
  return path === to || (to !== "/" && path.startsWith(`${to}/`));
}

export function Brand() {
  return (
    <Link className="brand" href="/">
      <svg className="brand-mark" viewBox="0 0 64 64" aria-hidden="true">
        <rect className="brand-back" width="64" height="64" rx="18" />
        <circle className="brand-key" cx="32" cy="25" r="11" />
        <path className="brand-key" d="M32 36v18m0-12h9" />
      </svg>
      Latchkey
    </Link>
  );
}

function Who() {
  const { name, role } = useSession();
  return (
    <div className="who">
      <div>
        <StoreSwitch />
        <span className="quiet">
          {name}, {role}
        </span>
      </div>
      <SignOut isSmall />
    </div>
  );
}
