/**
 * A pressed button is disabled until its act is done, and may then be removed, as the button of an ended
 * session. The browser then drops the focus: a screen reader is silent, and the next Tab begins before the
 * menu. This function returns the focus to the button or, if the button was removed, to the heading of its
 * container. A dialog that is gone counts as the button that opened it.
 */
export function keepFocus(): void {
  /** The last focused element and its ancestors, from the inside out. */
  let last: Element[] = [];
  /** The same, of the last element outside dialogs. */
  let outside: Element[] = [];
  let wasDisabled = false;
  let isDue = false;
  const note = (element: Element | null) => {
    last = withParents(element);
    wasDisabled = false;
  };
  const look = () => {
    isDue = false;
    const [element] = last;
    if (!element) return;
    const isDisabled = element.matches(":disabled");
    wasDisabled ||= isDisabled;
    if (document.activeElement !== document.body) return;
    if (!element.isConnected) restore([...(last.some(isDialog) ? outside : []), ...last]);
    else if (wasDisabled && !isDisabled) (element as HTMLElement).focus(STILL);
  };
  document.addEventListener("focusin", ({ target }) => {
    note(target as Element);
    if (!last.some(isDialog)) outside = last;
  });
  // A click beside all elements removes the focus on purpose.
  document.addEventListener("pointerdown", ({ target }) => note((target as Element).closest(FOCUSABLE)));
  new MutationObserver(() => {
    // Noted here too, because an element that is enabled again before the next frame has lost the focus as well.
    wasDisabled ||= last[0]?.matches(":disabled") ?? false;
    // A closing dialog has returned the focus by the next frame.
    if (!isDue) requestAnimationFrame(look);
    isDue = true;
  }).observe(document, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}

const STILL = { preventScroll: true };
const FOCUSABLE = "a, button, input, select, textarea, summary";

const isDialog = (element: Element): boolean => element.matches("[role=dialog]");

/** Focuses the first element if it can have the focus, else the heading of the first container that is left. */
function restore(elements: readonly Element[]): void {
  const [first] = elements;
  if (first?.isConnected && !first.matches(":disabled")) (first as HTMLElement).focus(STILL);
  else headingOf(elements.find(({ isConnected }) => isConnected))?.focus(STILL);
}

function withParents(element: Element | null): Element[] {
  const all: Element[] = [];
  for (let one = element; one; one = one.parentElement) all.push(one);
  return all;
}

function headingOf(place: Element | undefined): HTMLElement | null {
  for (const one of withParents(place ?? null)) {
    const heading = one.matches("form, section, main, body") && one.querySelector<HTMLElement>("h1, h2, h3");
    if (!heading) continue;
    heading.tabIndex = -1;
    return heading;
  }
  return null;
}
