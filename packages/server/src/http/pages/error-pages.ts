import { type Fixer, fixers } from "../../contract/fixers.ts";
import { problemsOf } from "../../contract/operation.ts";
import { operations } from "../../contract/operations.ts";
import {
  errorUrl,
  fixerOf,
  type ProblemCode,
  problemEntry,
  problems,
  titles,
} from "../../contract/problems.ts";
import { type SignOnReason, signOnReasonEntry, signOnReasons } from "../../contract/sign-on-reasons.ts";
import type { ServicePage } from "../serve.ts";
import { framed, pageHeaders } from "./frame.ts";
import { type Html, html, inWords } from "./html.ts";

/**
 * A page for each error of the API and for each reason of a failed sign-on, from the tables of docs/errors.md. The
 * texts are in English, as in the answers.
 */
export const errorPages = (publicUrl: string): readonly ServicePage[] => [
  page("/errors", () => ({ title: "Errors", body: listOfErrors(publicUrl) })),
  page("/errors/{code}", (code) => errorPage(publicUrl, code)),
];

type ErrorPage = { title: string; body: Html };

const READER = { language: "en" } as const;
const { Vary: _, ...HEADERS } = pageHeaders(READER);

function page(path: string, read: (code: string) => ErrorPage | undefined): ServicePage {
  return {
    path,
    async respond(_received, asked) {
      const found = read(asked.slice(asked.lastIndexOf("/") + 1));
      if (!found) return { status: 404, headers: HEADERS, body: framed(READER, UNKNOWN) };
      const headers = { ...HEADERS, "Cache-Control": "public, max-age=86400" };
      return { status: 200, headers, body: framed(READER, { ...found, isWide: true }) };
    },
  };
}

const UNKNOWN: ErrorPage = {
  title: "No such error",
  body: html`<h1>No such error</h1><p>Latchkey has no error with this code. It may be an error of a newer release.</p>`,
};

/** Seven codes are an error of the API and a reason of a sign-on, too. */
function errorPage(publicUrl: string, code: string): ErrorPage | undefined {
  const parts = [
    ...(Object.hasOwn(problems, code) ? [asProblem(publicUrl, code as ProblemCode)] : []),
    ...(Object.hasOwn(signOnReasons, code) ? [asReason(code as SignOnReason)] : []),
  ];
  if (parts.length === 0) return undefined;
  return {
    title: code,
    body: html`<h1><code>${code}</code></h1>${parts}<p class="reference quiet"><a href="${publicUrl}/errors">All errors</a></p>`,
  };
}

function asProblem(publicUrl: string, code: ProblemCode): Html {
  const { status, means, remedy, oauth } = problemEntry(code);
  const from = operations.filter((operation) => problemsOf(operation).includes(code));
  const links = from.map(({ id, summary }) => html`<p><a href="${publicUrl}/docs#${id}">${summary}</a></p>`);
  return html`<h2>As an answer: ${status} ${titles[status]}</h2>
<dl>${meaning(means)}${fixedBy(fixerOf(code))}${howTo(remedy)}
${oauth ? line("At the OAuth endpoints", html`<code>error</code> is <code>${oauth}</code>`) : ""}
${links.length > 0 ? line("Answered by", links) : ""}</dl>`;
}

function asReason(reason: SignOnReason): Html {
  const { by, error, means, remedy } = signOnReasonEntry(reason);
  return html`<h2>As the reason of a failed sign-on</h2>
<dl>${meaning(means)}${fixedBy(by)}${howTo(remedy)}
${line("The storefront receives", html`<code>error</code> is <code>${error}</code>`)}</dl>`;
}

const line = (name: string, text: Html | Html[]): Html => html`<div><dt>${name}</dt><dd>${text}</dd></div>`;
const meaning = (text: string): Html => line("What it means", inWords(text));
const fixedBy = (by: Fixer): Html => line("Who can fix it", inWords(fixers[by]));
const howTo = (remedy: string): Html => line("How to fix it", inWords(remedy));

function listOfErrors(publicUrl: string): Html {
  const entry = (code: string, means: string): Html =>
    html`<div><dt><a href="${errorUrl(publicUrl, code)}"><code>${code}</code></a></dt><dd>${inWords(means)}</dd></div>`;
  const all = <Entry extends { means: string }>(table: Record<string, Entry>): Html[] =>
    Object.entries(table).map(([code, { means }]) => entry(code, means));
  return html`<h1>Errors</h1><p>Each error of the API has a <code>code</code>, and each failed sign-on a <code>reason</code>. Both are stable.</p>
<h2>Errors of the API</h2><dl>${all(problems)}</dl>
<h2>Reasons of a failed sign-on</h2><dl>${all(signOnReasons)}</dl>`;
}
