import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { Choice } from "../contract/browser.ts";
import type { Problem } from "../contract/problem.ts";
import { type ProblemCode, problemEntry } from "../contract/problems.ts";
import { type Html, inWords } from "./words.ts";

/**
 * What a shopper sees of us when there is no storefront to send them to. Static text: nothing of the request is in it but
 * the reference, which we made. Nothing is loaded from anywhere, and no other site can put the page into a frame.
 */
const STYLE = `
:root { color-scheme: light dark; --back: #f4f4f1; --card: #fff; --text: #1d2125; --quiet: #5c646c; --line: #dcdcd6; --accent: #0b5f52; }
@media (prefers-color-scheme: dark) {
  :root { --back: #15181a; --card: #1e2225; --text: #eceeef; --quiet: #a3abb2; --line: #343a3f; --accent: #6fd0bd; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem; background: var(--back);
  color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
main { width: 100%; max-width: 27rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  padding: 2rem 1.75rem; }
h1 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .75rem; text-wrap: balance; }
p { margin: 0 0 .75rem; }
.quiet { color: var(--quiet); font-size: .875rem; }
.reference { margin: 1.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); }
.reference strong { font: 600 1.05rem ui-monospace, monospace; letter-spacing: .06em; color: var(--text); }
code { font: .8rem ui-monospace, monospace; overflow-wrap: anywhere; }
ul { list-style: none; margin: 1.25rem 0 0; padding: 0; display: grid; gap: .6rem; }
li a { display: block; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 10px; color: inherit;
  text-decoration: none; font-weight: 600; overflow-wrap: anywhere; }
li a:hover, li a:focus-visible { border-color: var(--accent); outline: 2px solid var(--accent); outline-offset: 1px; }
li .quiet { display: block; font-weight: 400; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": POLICY,
};

/** Whose fault it is decides what the heading says: a shopper can start again, but cannot mend a storefront. */
const RESTARTS = new Set(["attempt_invalid", "attempt_expired", "browser_changed"]);
const LATER = new Set(["rate_limit_exceeded", "storage_unavailable", "internal_error"]);

export function problemPage(problem: Problem, requestId: string): string {
  const { code } = problem;
  const reference = String(problem.faults[0].meta?.reference ?? requestId);
  return page(
    html`${explain(code)}<p class="quiet reference">Reference <strong>${reference}</strong><br><code data-problem="${code}">${code}</code></p>`,
  );
}

function explain(code: ProblemCode): Html {
  const { means, remedy } = problemEntry(code);
  if (RESTARTS.has(code)) return html`<h1>Please sign in again</h1><p>${means}</p><p>${remedy}</p>`;
  if (LATER.has(code))
    return html`<h1>Please try again in a moment</h1><p>Signing in does not work just now. It is not your fault, and nothing was lost.</p>`;
  if (code === "logout_uri_unregistered")
    return html`<h1>You are signed out</h1><p>The shop asked us to send you on to a page that we do not know. Please go back to the shop yourself.</p><p class="quiet">${inWords(remedy)}</p>`;
  if (code === "logout_hint_invalid")
    return html`<h1>Please sign out at the shop</h1><p>We could not tell whose sign-in is to end, so nothing was ended. Please go back to the shop and sign out there.</p><p class="quiet">${inWords(remedy)}</p>`;
  return html`<h1>This sign-in cannot go on</h1><p>The shop sent you here with a request that we cannot follow. Please tell the shop.</p><p class="quiet">${inWords(means)} ${inWords(remedy)}</p>`;
}

export const signedOutPage = (): string =>
  page(html`<h1>You are signed out</h1><p>You can close this page, or go back to the shop.</p>`);

export function choicePage({ realmName, options }: Choice): string {
  const items = options.map(({ name, href, isDown }) => {
    const note = isDown ? html`<span class="quiet">Does not answer at the moment</span>` : "";
    return html`<li><a href="${href}">${name}${note}</a></li>`;
  });
  return page(
    html`<h1>How would you like to sign in?</h1><p class="quiet">${realmName}</p><ul>${items}</ul>`,
  );
}

const page = (body: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Sign in</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>
</head>
<body>
<main>${body}</main>
</body>
</html>
`.toString();
