/**
 * What was pressed is disabled until it is done, and may be gone then, as a session with the button that ended it. The browser leaves the
 * focus nowhere: a screen reader falls silent, and the next Tab begins before the menu. Here it goes back to what was pressed, or where
 * that is gone, to the heading of what it stood in.
 */
export function keepFocus(): void {
  /** What had the focus last, and all that it stood in, from the inside out. */
  let last: Element[] = [];
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
    if (!element.isConnected) headingOf(last.find(({ isConnected }) => isConnected))?.focus(STILL);
    else if (wasDisabled && !isDisabled) (element as HTMLElement).focus(STILL);
  };
  document.addEventListener("focusin", ({ target }) => note(target as Element));
  // A press beside everything takes the focus away on purpose.
  document.addEventListener("pointerdown", ({ target }) => note((target as Element).closest(FOCUSABLE)));
  new MutationObserver(() => {
    // Noted here, too: what is enabled again before the next frame has lost the focus all the same.
    wasDisabled ||= last[0]?.matches(":disabled") ?? false;
    // By the next frame a window that closes has given the focus back.
    if (!isDue) requestAnimationFrame(look);
    isDue = true;
  }).observe(document, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}

const STILL = { preventScroll: true };
const FOCUSABLE = "a, button, input, select, textarea, summary";

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
