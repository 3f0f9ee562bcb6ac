import { element, part } from "./elements.ts";
import type { Explained } from "./explain.ts";

/** The message under the bar. Screen readers announce it. */

const LEFT = "alder:message";

type Message = { text: string; reference?: string | undefined; isBad?: boolean };

export function showMessage({ text, reference, isBad = false }: Message, ...next: HTMLElement[]): void {
  const words = element(
    "div",
    { class: "message-words" },
    element("p", {}, text),
    reference === undefined ? undefined : referenceLine(reference),
  );
  const message = element(
    "div",
    { class: isBad ? "message message-bad" : "message" },
    words,
    next.length > 0 ? element("div", { class: "message-next" }, ...next) : undefined,
  );
  part("messages").replaceChildren(message);
  message.scrollIntoView({ block: "nearest" });
}

export const showFailure = ({ sentence, reference }: Explained, ...next: HTMLElement[]): void =>
  showMessage({ text: sentence, reference, isBad: true }, ...next);

export const clearMessage = (): void => part("messages").replaceChildren();

export const referenceLine = (reference: string): HTMLElement =>
  element(
    "p",
    { class: "quiet" },
    "Reference ",
    element("span", { class: "reference" }, reference),
    ". Tell it to us if you ask for help.",
  );

/** Stores a message that the next page shows. */
export function leaveMessage(text: string): void {
  sessionStorage.setItem(LEFT, text);
}

export function showLeftMessage(): void {
  const text = sessionStorage.getItem(LEFT);
  if (text === null) return;
  sessionStorage.removeItem(LEFT);
  showMessage({ text });
}
