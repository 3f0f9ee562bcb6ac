/** The keys that work on every screen: Ctrl-K (⌘K on a Mac) for the search, and / for the screen's search field. */
type Shortcut = "search" | "field";

type Pressed = Pick<
  KeyboardEvent,
  "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "defaultPrevented" | "isComposing"
>;

export function shortcutOf(pressed: Pressed, isMac: boolean, isTyping: boolean): Shortcut | undefined {
  const { key, code, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented, isComposing } = pressed;
  if (defaultPrevented || isComposing || altKey) return undefined;
  // Not Ctrl on a Mac, where Ctrl-K deletes the rest of a line.
  const [held, other] = isMac ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  // A keyboard with other letters, such as Cyrillic ones, reports the key by its place.
  const isK = key.toLowerCase() === "k" || (code === "KeyK" && !/^[a-z]$/i.test(key));
  if (held && !other && !shiftKey && isK) return "search";
  if (key === "/" && !held && !other && !isTyping) return "field";
  return undefined;
}

export const isMac = (): boolean => /^(Mac|iP)/.test(navigator.platform);

const TYPED_INTO = "input, textarea, select, [contenteditable]";

export const isTypedInto = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(TYPED_INTO) !== null;
