import { mountWirePanel } from "../wire/wire-panel.ts";
import { element, part } from "./elements.ts";
import { KEPT, keptToken } from "./kept-token.ts";
import { showLeftMessage, showMessage } from "./message.ts";
import { nameOf, type Visitor } from "./visitor.ts";

/**
 * Prepares the parts of every page: the visitor's name, the message of the previous page, and the wire panel.
 */
export function mountFrame(asked?: Promise<Visitor>): void {
  showName(keptToken()?.name);
  void asked?.then((who) => {
    // While Latchkey does not answer, the bar shows the stored name.
    if (who.is !== "unknown") showName(who.is === "customer" ? nameOf(who.customer) : undefined);
  });
  // A sign-in or sign-out in another tab.
  addEventListener("storage", ({ key }) => {
    if (key === KEPT) showName(keptToken()?.name);
  });
  // A page from the back-forward cache shows its old state.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
  if (!mayKeep()) {
    showMessage({ text: KEEPS_NOTHING, isBad: true });
    return;
  }
  showLeftMessage();
  mountWirePanel();
}

const KEEPS_NOTHING =
  "Your browser does not let this shop store data, which sign-in needs. Allow cookies and site data for it, then load the page again.";

/** Reading `localStorage` throws if the browser forbids storage. */
function mayKeep(): boolean {
  try {
    return Boolean(sessionStorage && localStorage);
  } catch {
    return false;
  }
}

function showName(name: string | undefined): void {
  const place = part("visitor") as HTMLAnchorElement;
  document.documentElement.toggleAttribute("data-customer", name !== undefined);
  if (name === undefined) {
    place.href = "/sign-in";
    place.removeAttribute("aria-label");
    place.replaceChildren("Sign in");
    return;
  }
  const shown = name || "Your account";
  place.href = "/account";
  place.setAttribute("aria-label", `Your account: ${shown}`);
  place.replaceChildren(
    element("span", { class: "visitor-letter", "data-letter": initialOf(shown) }),
    element("span", { class: "visitor-name" }, shown),
  );
}

export const initialOf = (name: string): string => ([...name][0] ?? "·").toUpperCase();
