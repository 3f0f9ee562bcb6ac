import type { Provider } from "@latchkey/sdk";
import { button, element, part } from "../frame/elements.ts";
import { type Explained, explain, wasRefused } from "../frame/explain.ts";
import { latchkey } from "../frame/latchkey.ts";
import { clearMessage, showFailure, showMessage } from "../frame/message.ts";
import { beginSignOn } from "../frame/sign-on.ts";
import { awaitReport, openPopup } from "../signed-in/popup.ts";

/** Shows a button for each identity provider. It opens in this window or in a popup. */
export async function mountProviders(): Promise<void> {
  part("providers-again").addEventListener("click", () => void list());
  await list();
}

async function list(): Promise<void> {
  const place = part("providers");
  place.setAttribute("aria-busy", "true");
  const again = part("providers-again");
  try {
    const shop = await latchkey();
    const providers = await shop.listProviders();
    place.replaceChildren(...providers.map(providerButton));
    part("where").hidden = providers.length === 0;
    note(providers.length === 0 ? "There is none to choose from at the moment." : "");
    // After success the button disappears.
    if (document.activeElement === again) part("providers-title").focus();
    again.hidden = true;
  } catch (failure) {
    place.replaceChildren();
    part("where").hidden = true;
    again.hidden = false;
    note(explain(failure).sentence);
  }
  place.setAttribute("aria-busy", "false");
}

function note(text: string): void {
  const place = part("providers-note");
  place.textContent = text;
  place.hidden = text === "";
}

/** Greyed when the provider is down, but not disabled, because the provider may already be up again. */
function providerButton(provider: Provider): HTMLElement {
  const press = element(
    "button",
    {
      type: "button",
      class: provider.isUp ? "provider" : "provider provider-down",
    },
    element("span", { class: "provider-letter", "data-letter": [...provider.name][0] ?? "" }),
    element(
      "span",
      { class: "provider-words" },
      element("span", {}, `Continue with ${provider.name}`),
      provider.isUp ? undefined : element("span", { class: "provider-note" }, " not answering at the moment"),
    ),
  );
  press.addEventListener("click", () => void start(provider, press));
  return element("li", {}, press);
}

const wantsPopup = (): boolean =>
  document.querySelector<HTMLInputElement>('input[name="where"]:checked')?.value === "popup";

async function start(provider: Provider, press: HTMLElement, afterRefusal = false): Promise<void> {
  // Before any `await`: browsers open windows only while they handle a click.
  const popup = wantsPopup() ? openPopup() : undefined;
  clearMessage();
  setBusy(true);
  try {
    const { url, state } = await beginSignOn(provider, { isPopup: popup !== undefined, afterRefusal });
    if (popup) return follow(popup, url, state, provider, press);
    location.assign(url);
    // No event tells whether the shopper stops the navigation and wants to choose again.
    offerAgain(press);
  } catch (failure) {
    popup?.close();
    fail(explain(failure), provider, press);
  }
}

function follow(popup: Window, url: string, state: string, provider: Provider, press: HTMLElement): void {
  popup.location.replace(url);
  showMessage(
    { text: `Go on in the window of ${provider.name}.` },
    button("Show that window", "button button-plain button-small", () => popup.focus()),
  );
  awaitReport(popup, state, {
    report(failure) {
      if (failure) fail(failure, provider, press);
      else location.assign("/account");
    },
    closed() {
      offerAgain(press);
      showMessage(
        { text: "The window was closed before you were signed in." },
        button("Try again", "button button-small", () => void start(provider, press)),
      );
    },
  });
}

function fail(failure: Explained, provider: Provider, press: HTMLElement): void {
  offerAgain(press);
  const again = button(
    "Try again",
    "button button-small",
    () => void start(provider, press, wasRefused(failure)),
  );
  showFailure(failure, ...(failure.isWorthTrying ? [again] : []));
}

/** Enables the button, which lost the focus when it was disabled. */
function offerAgain(press: HTMLElement): void {
  setBusy(false);
  press.focus({ preventScroll: true });
}

function setBusy(isBusy: boolean): void {
  for (const each of part("providers").querySelectorAll("button")) each.disabled = isBusy;
}
