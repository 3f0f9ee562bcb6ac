import { Suspense, useEffect, useState } from "react";
import { loaded } from "../frame/loaded.ts";
import { insteadOfSearch, Unshown } from "../frame/unshown.tsx";
import { SearchIcon } from "./search-icon.tsx";
import { isMac, isTypedInto, shortcutOf } from "./shortcuts.ts";

/** The first screen does not wait for it. */
const loadPalette = async () => {
  const { Palette } = await import("./palette.tsx");
  return Palette;
};

/** Then the first screen is shown, and letters that follow Ctrl-K at once find the search loaded. */
const PRELOAD_AFTER_MS = 1500;

/** The button that opens the search, and the keys that do so on every screen. */
export function SearchAnywhere({ isOff }: { isOff: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), PRELOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const shortcut = shortcutOf(event, isMac(), isTypedInto(event.target));
      if (!shortcut) return;
      const field = document.querySelector<HTMLElement>("main input[type=search]");
      // A dialog may have typed text, or need a choice first.
      const isBlocked = document.querySelector("[role=dialog]:not(.palette)") !== null;
      if (isBlocked || (shortcut === "field" && !field)) return;
      event.preventDefault();
      if (shortcut === "field") field?.focus();
      else setOpen((before) => !before);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      <button
        type="button"
        className="search-open"
        aria-haspopup="dialog"
        aria-keyshortcuts={isMac() ? "Meta+K" : "Control+K"}
        onClick={() => setOpen(true)}
      >
        <SearchIcon />
        <span className="search-word">Search</span>
        <span className="palette-key" aria-hidden="true">
          {isMac() ? "⌘K" : "Ctrl K"}
        </span>
      </button>
      {isOpen && !isOff && (
        <Unshown instead={insteadOfSearch(close)}>
          {() => {
            const Palette = loaded(loadPalette);
            return (
              <Suspense>
                <Palette onClose={close} />
              </Suspense>
            );
          }}
        </Unshown>
      )}
    </>
  );
}
