/**
 * Focuses a clicked button, which Safari does not, because a dialog that closes returns the focus to the
 * element that had it. Runs in the capture phase, before the dialog opens. `detail` is 0 for a key press:
 * Enter in a field leaves the focus in the field.
 */
export const focusWhatIsPressed = (): void =>
  document.addEventListener(
    "click",
    ({ target, detail }) => {
      if (target instanceof Element && detail > 0) target.closest("button")?.focus({ preventScroll: true });
    },
    { capture: true },
  );
