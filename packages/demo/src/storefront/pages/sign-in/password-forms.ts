import { part } from "../frame/elements.ts";
import { explain } from "../frame/explain.ts";
import { keepToken } from "../frame/kept-token.ts";
import { latchkey } from "../frame/latchkey.ts";
import { leaveMessage } from "../frame/message.ts";

/** E-mail and password: for customers who have one, and for new ones. */
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
      // Where it was pressed, and not Enter in a field.
      if (document.activeElement === document.body) submit.focus();
    }
  });
  // Pressed before there is somebody to listen, it would send the form to a server that takes none.
  submit.disabled = false;
}

function sayIn(form: HTMLFormElement, sentence: string): void {
  const place = form.querySelector(".form-error") as HTMLElement;
  place.textContent = sentence;
  place.hidden = sentence === "";
}
