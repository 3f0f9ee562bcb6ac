import { link } from "../frame/elements.ts";
import { mountFrame } from "../frame/frame.ts";
import { showMessage } from "../frame/message.ts";
import { nameOf, visitor } from "../frame/visitor.ts";
import { mountPasswordForms } from "./password-forms.ts";
import { mountProviders } from "./providers.ts";

const asked = visitor();
mountFrame(asked);
mountPasswordForms();
void mountProviders();

const who = await asked;
if (who.is === "customer")
  showMessage(
    { text: `You are signed in as ${nameOf(who.customer)}. Signing in here changes that.` },
    link("Go to your account", "button button-small", "/account"),
  );
