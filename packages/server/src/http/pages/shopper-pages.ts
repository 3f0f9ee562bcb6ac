import type { Choice, SignOutQuestion } from "../../contract/browser.ts";
import type { Problem } from "../../contract/problem.ts";
import { type ProblemCode, problemEntry } from "../../contract/problems.ts";
import { framed, type PageReader, wayBack } from "./frame.ts";
import { type Html, html, inWords } from "./html.ts";
import type { Language } from "./language.ts";
import { setupWords } from "./setup-words/all.ts";
import { pageWords } from "./words/all.ts";
import type { Refusal } from "./words/en.ts";

/** The pages that a shopper sees when there is no storefront to redirect to. */

export function problemPage(problem: Problem, requestId: string, reader: PageReader): string {
  const { code } = problem;
  const words = pageWords[reader.language];
  const reference = problem.faults[0].meta?.reference;
  // A reference finds the record of a sign-on; a request id finds the lines of the log.
  const [kind, shown, look] =
    reference === undefined ? [words.request, requestId, " long"] : [words.reference, String(reference), ""];
  const isForMembers = reader.shop?.isForMembers ?? false;
  const { heading, text, remedy, isForDevelopers } = explain(problem, reader.language, isForMembers);
  const whom = isForMembers ? words.members.forOperators : words.forDevelopers;
  return framed(reader, {
    title: heading,
    body: html`<h1>${heading}</h1><p>${text}</p><p>${remedy}</p>${wayBack(reader)}${isForDevelopers ? detailsFor(whom, code) : ""}<p class="quiet reference${look}">${kind} <strong>${shown}</strong><br><code data-problem="${code}">${code}</code></p>`,
  });
}

type Explained = Refusal & { heading: string; isForDevelopers?: boolean };

/** Tells a shopper to start again or to wait. A fault of the storefront has a text for its developers. */
function explain({ code, faults }: Problem, language: Language, isForMembers: boolean): Explained {
  const words = pageWords[language];
  const { again, later, members } = words;
  const refusalFor = (shopper: Refusal, remedyOfMember: string): Refusal =>
    isForMembers ? { ...shopper, remedy: remedyOfMember } : shopper;
  switch (code) {
    case "attempt_invalid":
      return { heading: again.heading, ...refusalFor(again.foreign, members.again) };
    case "attempt_expired":
      return { heading: again.heading, ...refusalFor(again.late, members.again) };
    case "browser_changed":
      return { heading: again.heading, ...refusalFor(again.otherBrowser, members.otherBrowser) };
    case "rate_limit_exceeded":
      return { heading: later.heading, ...later.busy };
    case "storage_unavailable":
    case "internal_error":
      return { heading: later.heading, ...later.down };
    case "test_sign_on_over":
      return words.testOver;
    case "setup_link_not_found":
      return setupWords[language].over;
    case "logout_uri_unregistered":
      if (faults[0].meta?.signed_out === false) return { ...words.shop, isForDevelopers: true };
      return { ...words.signedOutHere, isForDevelopers: true };
    case "logout_hint_invalid":
      return { ...words.notSignedOut, isForDevelopers: true };
    default:
      return { ...words.shop, ...(isForMembers && members.refused), isForDevelopers: true };
  }
}

function detailsFor(whom: string, code: ProblemCode): Html {
  const { means, remedy } = problemEntry(code);
  return html`<p class="quiet details">${whom}: <span lang="en">${inWords(means)} ${inWords(remedy)}</span></p>`;
}

export function signedOutPage(page: "signed_out" | "sign_ins_ended", reader: PageReader): string {
  const { signedOut, signInsEnded } = pageWords[reader.language];
  const { heading, text } = page === "signed_out" ? signedOut : signInsEnded;
  return framed(reader, { title: heading, body: html`<h1>${heading}</h1><p>${text}</p>${wayBack(reader)}` });
}

export function signOutPage({ action, confirmation }: SignOutQuestion, reader: PageReader): string {
  const { heading, headingWithoutName, text, yes } = pageWords[reader.language].signOut;
  const name = reader.shop?.name;
  const [before, after] = heading.split("{shop}");
  const shown = name ? html`${before}<bdi>${name}</bdi>${after}` : html`${headingWithoutName}`;
  return framed(reader, {
    title: headingWithoutName,
    body: html`<h1>${shown}</h1><p>${text}</p><form method="post" action="${action}"><p class="way"><button name="confirmation" value="${confirmation}">${yes}</button></p></form>${wayBack(reader, "way aside")}`,
  });
}

export function choicePage({ action, options }: Choice, reader: PageReader): string {
  const { choice } = pageWords[reader.language];
  const items = options.map(({ profileId, name, isDown }) => {
    const note = isDown ? html`<span class="quiet">${choice.down}</span>` : "";
    return html`<li><button name="profile" value="${profileId}"><bdi>${name}</bdi>${note}</button></li>`;
  });
  return framed(reader, {
    title: choice.heading,
    body: html`<h1>${choice.heading}</h1><form method="post" action="${action}"><ul>${items}</ul></form>${wayBack(reader, "way aside")}`,
  });
}
