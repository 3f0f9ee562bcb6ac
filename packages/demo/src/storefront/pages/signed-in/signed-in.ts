import { button, link, part, showOnly } from "../frame/elements.ts";
import { type Explained, explain, isStillGood, wasRefused, wasUsedBefore } from "../frame/explain.ts";
import { mountFrame } from "../frame/frame.ts";
import { keepToken, keptToken } from "../frame/kept-token.ts";
import { latchkey } from "../frame/latchkey.ts";
import { leaveMessage, referenceLine } from "../frame/message.ts";
import { askWhoNextTime, beginSignOn, findBegun, forgetLeaving } from "../frame/sign-on.ts";
import { noteStep, steps } from "../wire/wire-log.ts";
import { recordedStep, returnSteps } from "../wire/wire-steps.ts";
import { sendReport } from "./popup.ts";

/** The page at the shop's redirect URI. */

const url = location.href;
const state = new URL(url).searchParams.get("state");
const begun = findBegun(state);

async function comeBack(): Promise<void> {
  const shop = await latchkey();
  if (!shop.isSignOnAnswer(url)) return keptToken() ? goOn() : showNothingToFinish();
  for (const step of returnSteps(url, begun)) noteStep(step);
  let failure = await shop.completeSignOn(url).then((token) => {
    keepToken(token);
    forgetLeaving();
    noteStep(recordedStep(token.customerId));
  }, explain);
  if (failure && wasUsedBefore(failure) && keptToken()) {
    leaveMessage("You are signed in already.");
    failure = undefined;
  }
  // Otherwise the provider, which remembers the person, would send the same person back to the same refusal.
  if (failure && wasRefused(failure)) askWhoNextTime();
  if (begun?.isPopup && state !== null) {
    sendReport({ state, failure: failure ?? undefined, steps: steps() });
    close();
  }
  // Also in a popup: browsers close only windows that a script has opened.
  if (failure) showFailure(failure);
  else goOn();
}

/** Replaces the history entry, so that Back does not lead to the used answer. */
function goOn(): void {
  location.replace("/account");
}

function showNothingToFinish(): void {
  const now = link("Sign in now", "button", "/sign-in");
  show("No sign-in to finish", "This page finishes a sign-in. None is open now.", [now]);
}

function showFailure(failure: Explained): void {
  // Removes the used code from the address bar and the history.
  if (!isStillGood(failure)) history.replaceState(null, "", location.pathname);
  const { sentence, reference } = failure;
  if (wasUsedBefore(failure)) {
    const again = link("Sign in again", "button", "/sign-in");
    show("That page was already used", "An answer works once. Please sign in again.", [again], reference);
    return;
  }
  const actions: HTMLElement[] = [
    link("Sign in another way", "button button-plain", "/sign-in"),
    link("Back to the shop", "button button-plain", "/"),
  ];
  if (failure.isWorthTrying) actions.unshift(againAction(failure));
  show(failure.title ?? "That did not work", sentence, actions, reference);
}

/** Reloads the page if the answer in the address bar may still work; otherwise begins a new sign-on. */
function againAction(failure: Explained): HTMLElement {
  if (isStillGood(failure) && location.search !== "")
    return button("Try again", "button", () => location.reload());
  if (!begun) return link("Try again", "button", "/sign-in");
  const { providerId: id, isDirect } = begun;
  const again = button("Try again", "button", async () => {
    again.disabled = true;
    const way = { isPopup: false, afterRefusal: wasRefused(failure) };
    await beginSignOn({ id, flow: isDirect ? "direct" : "brokered" }, way).then(
      (next) => {
        location.assign(next.url);
        // No event tells whether the shopper stops the navigation.
        again.disabled = false;
      },
      (next) => showFailure(explain(next)),
    );
  });
  return again;
}

function show(title: string, sentence: string, actions: HTMLElement[], reference?: string): void {
  part("failure-title").textContent = title;
  document.title = `${title} · Alder & Pine`;
  part("failure-sentence").textContent = sentence;
  part("failure-reference").replaceChildren(...(reference === undefined ? [] : [referenceLine(reference)]));
  part("failure-actions").replaceChildren(...actions);
  showOnly("failure", ["progress", "failure"]);
}

mountFrame();
comeBack().catch((failure) => showFailure(explain(failure)));
