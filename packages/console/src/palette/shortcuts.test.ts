import { expect, test } from "vitest";
import { shortcutOf } from "./shortcuts.ts";

const pressed = (changes: Partial<KeyboardEvent>): KeyboardEvent =>
  ({ key: "k", code: "KeyK", ...changes }) as KeyboardEvent;

test.each([
  ["Ctrl-K", { ctrlKey: true }, false],
  ["Ctrl-K with Caps Lock", { ctrlKey: true, key: "K" }, false],
  ["Ctrl-K of a Cyrillic keyboard", { ctrlKey: true, key: "л" }, false],
  ["⌘K on a Mac", { metaKey: true }, true],
])("%s opens the search, also from a field", (_, changes, isMac) => {
  expect(shortcutOf(pressed(changes), isMac, true)).toBe("search");
});

test.each([
  ["K", {}, false],
  ["Ctrl-Shift-K", { ctrlKey: true, shiftKey: true }, false],
  ["Ctrl-Alt-K", { ctrlKey: true, altKey: true }, false],
  ["the Windows key with K", { metaKey: true }, false],
  ["Ctrl-K on a Mac, which deletes a line", { ctrlKey: true }, true],
  ["another letter in the place of K", { ctrlKey: true, key: "t" }, false],
  ["Ctrl-K that something else has handled", { ctrlKey: true, defaultPrevented: true }, false],
])("%s does nothing", (_, changes, isMac) => {
  expect(shortcutOf(pressed(changes), isMac, false)).toBeUndefined();
});

test("/ goes to the search field of the screen, unless a person is typing", () => {
  const slash = pressed({ key: "/", code: "Slash" });
  expect(shortcutOf(slash, false, false)).toBe("field");
  // On a German keyboard / is Shift-7.
  expect(shortcutOf({ ...slash, shiftKey: true }, false, false)).toBe("field");
  expect(shortcutOf(slash, false, true)).toBeUndefined();
  expect(shortcutOf({ ...slash, ctrlKey: true }, false, false)).toBeUndefined();
});
