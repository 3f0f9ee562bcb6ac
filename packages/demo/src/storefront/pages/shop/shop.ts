import { link, part } from "../frame/elements.ts";
import { mountFrame } from "../frame/frame.ts";
import { keptToken } from "../frame/kept-token.ts";
import { showMessage } from "../frame/message.ts";
import { nameOf, visitor } from "../frame/visitor.ts";

const asked = visitor();
mountFrame(asked);
greet(keptToken()?.name ?? "");

const who = await asked;
if (who.is === "customer") greet(nameOf(who.customer));
if (who.is === "signed-out")
  showMessage(
    { text: "You were signed out: your session was ended elsewhere, or its time was up." },
    link("Sign in again", "button button-small", "/sign-in"),
  );

function greet(name: string): void {
  part("greeting").textContent = name ? `Welcome, ${name}. Your 10 % is off already.` : "";
}
