import type { Customer, CustomerToken } from "@latchkey/sdk";
import { part, showOnly } from "../frame/elements.ts";
import { explain } from "../frame/explain.ts";
import { initialOf, mountFrame } from "../frame/frame.ts";
import { forgetToken, KEPT } from "../frame/kept-token.ts";
import { latchkey } from "../frame/latchkey.ts";
import { leaveMessage, referenceLine, showFailure } from "../frame/message.ts";
import { askWhoNextTime } from "../frame/sign-on.ts";
import { hasEnded, nameOf, visitor } from "../frame/visitor.ts";
import { mountSessions } from "./sessions.ts";

const STATES = ["looking", "stranger", "signed-out", "trouble", "account"];

async function showAccount(customer: Customer, token: CustomerToken): Promise<void> {
  const name = nameOf(customer);
  part("account-letter").textContent = initialOf(name);
  part("account-name").textContent = name;
  part("account-since").textContent = `Customer since ${day(customer.meta.timestamps.created_at)}`;
  part("profile-name").textContent = customer.name || "You have not told us";
  part("profile-email").textContent = customer.email;
  const proven = part("profile-proven");
  proven.textContent = customer.email_verified ? "Proven to be yours" : "Not proven yet";
  proven.classList.toggle("badge-good", customer.email_verified);

  const account = (await latchkey()).customer(token);
  const leave = async (end: () => Promise<void>, goodbye: string): Promise<void> => {
    try {
      await end();
    } catch (failure) {
      if (!hasEnded(failure)) return showFailure(explain(failure));
    }
    forgetToken();
    askWhoNextTime();
    leaveMessage(goodbye);
    location.assign("/");
  };
  part("sign-out").addEventListener("click", () =>
    leave(() => account.signOut(), "You are signed out. See you soon."),
  );
  part("sign-out-everywhere").addEventListener("click", () =>
    leave(() => account.signOutEverywhere(), "You are signed out everywhere."),
  );
  // Shows the account after its buttons have handlers.
  showOnly("account", STATES);
  await mountSessions(account, (how) => {
    part("profile-how").textContent = how;
  });
}

function showTrouble(failure: unknown): void {
  const { sentence, reference } = explain(failure);
  part("trouble-sentence").textContent = sentence;
  part("trouble-reference").replaceChildren(...(reference === undefined ? [] : [referenceLine(reference)]));
  showOnly("trouble", STATES);
}

const day = (instant: string): string =>
  new Date(instant).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });

const asked = visitor();
mountFrame(asked);
part("trouble-again").addEventListener("click", () => location.reload());
// A sign-in or sign-out in another tab.
addEventListener("storage", ({ key }) => key === KEPT && location.reload());

const who = await asked;
if (who.is === "customer") await showAccount(who.customer, who.token);
else if (who.is === "unknown") showTrouble(who.failure);
else showOnly(who.is, STATES);
