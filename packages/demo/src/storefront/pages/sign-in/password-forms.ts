import { part } from "../frame/elements.ts";
import { explain } from "../frame/explain.ts";
import { keepToken } from "../frame/kept-token.ts";
import { latchkey } from "../frame/latchkey.ts";
import { leaveMessage } from "../frame/message.ts";

/** The forms for e-mail and password: sign-in and registration. */
export function mountPasswordForms(): void {
  handle("sign-in-form", async (field) => {
    await signIn(field("email"), field("password"));
  });
  handle("register-form", async (field) => {
    const shop = await latchkey();
    const [name, email, password] = [field("name"), field("email"), field("password")];
    await shop.register({ name, email, password });
    await signIn(email, password);
    leaveMessage(`Welcome, ${name}. Your account is ready.`);
  });
}

async function signIn(email: string, password: string): Promise<void> {
  const shop = await latchkey();
  keepToken(await shop.signIn({ email, password }));
}

type Work = (field: (name: string) => string) => Promise<void>;

function handle(formId: string, work: Work): void {
  const form = part(formId) as HTMLFormElement;
  const submit = form.querySelector("button") as HTMLButtonElement;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    sayIn(form, "");
    const values = new FormData(form);
    try {
      await work((name) => String(values.get(name) ?? ""));
      location.assign("/account");
    } catch (failure) {
      sayIn(form, explain(failure).sentence);
      submit.disabled = false;
      // The focus was on the button, not in a field.
      if (document.activeElement === document.body) submit.focus();
    }
  });
  // The button is disabled until its handler exists: otherwise the browser would post the form, which the
  // server refuses.
  submit.disabled = false;
}

function sayIn(form: HTMLFormElement, sentence: string): void {
  const place = form.querySelector(".form-error") as HTMLElement;
  place.textContent = sentence;
  place.hidden = sentence === "";
}
