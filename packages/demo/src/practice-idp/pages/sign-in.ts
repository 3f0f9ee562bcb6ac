import { type Person, type ReadyMade, readyMadePeople } from "../people.ts";
import { type Html, html, renderPage } from "./page.ts";

type SignIn = {
  /** The path of this page, which also takes its forms. */
  path: string;
  clientId: string;
  clientHost: string;
  signedIn: Person | undefined;
  /** The titles of the knobs that are turned. */
  turned: readonly string[];
};

export const signInPage = ({ path, clientId, clientHost, signedIn, turned }: SignIn): string =>
  renderPage({
    title: "Sign in",
    width: "narrow",
    link: { href: "/knobs", text: "Knobs" },
    body: html`
<section class="card stack">
<div>
<h1>Who would you like to be?</h1>
<p class="quiet small">Signing in to <strong>${clientId}</strong> at ${clientHost}</p>
</div>
<p class="note">This is a practice provider: the people are invented, and need no password.${
      turned.length > 0 && html` Turned <a href="/knobs">knobs</a>: <strong>${turned.join(", ")}</strong>.`
    }</p>
${
  signedIn &&
  html`<p class="small">You are signed in here as <strong>${signedIn.name}</strong>. If you choose another person, ${signedIn.name} is signed out, at the shop too.</p>`
}
<form method="post" action="${path}"><ul class="people">${readyMadePeople.map(choice)}</ul></form>
<details>
<summary>Somebody else</summary>
<form method="post" action="${path}" class="stack">
<label>Name<input class="field" name="name" maxlength="100" autocomplete="off" value="Erin"></label>
<label>E-mail<input class="field" name="email" maxlength="254" inputmode="email" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="none"></label>
<label class="tick"><input type="checkbox" name="verified" value="yes" checked>The address is verified</label>
<div><button class="button main" name="action" value="typed">Sign in</button></div>
</form>
</details>
<form method="post" action="${path}"><button class="button plain" name="action" value="cancel">Cancel, and go back to the shop</button></form>
</section>`,
  });

const choice = (person: ReadyMade, index: number): Html => html`
<li><button class="person" name="person" value="${person.sub}">
<span class="face face-${index}" aria-hidden="true">${person.name.charAt(0)}</span>
<span class="called"><strong>${person.name}</strong>${
  person.email !== undefined && html`<span class="quiet">${person.email}</span>`
}${tagOf(person)}</span>
<span class="expect">${person.expect}</span>
</button></li>`;

function tagOf({ email, emailVerified }: Person): Html {
  if (email === undefined) return html`<span class="tag bad">no e-mail</span>`;
  return emailVerified
    ? html`<span class="tag good">verified</span>`
    : html`<span class="tag warn">not verified</span>`;
}
