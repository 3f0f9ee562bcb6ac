/**
 * Safari gives a button that is clicked no focus, and a window that closes gives the focus back to what had it before. While the click
 * goes down, so that what opens by it finds the focus there. `detail` is 0 where a key was pressed: Enter in a field stays in the field.
 */
export const focusWhatIsPressed = (): void =>
  document.addEventListener(
    "click",
    ({ target, detail }) => {
      if (target instanceof Element && detail > 0) target.closest("button")?.focus({ preventScroll: true });
    },
    { capture: true },
  );
