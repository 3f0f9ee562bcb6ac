import type { TestReport } from "../../contract/browser.ts";
import type { IdpAnswer } from "../../contract/sign-on-reasons.ts";
import { framed, type PageReader } from "./frame.ts";
import { type Html, html, inWords } from "./html.ts";

/** English, as the console is. */
export const ADMINISTRATOR: PageReader = { language: "en" };

/** The page at the end of an administrator's test sign-on. The provider's values are escaped. */
export function testPage(report: TestReport): string {
  const { profileName, reference, failure, answer, person, requirements, checks, timings } = report;
  return framed(ADMINISTRATOR, {
    title: "Test sign-on",
    isWide: true,
    body: html`<p class="quiet">Test sign-on · ${profileName}</p>
${verdict(failure)}
${section("Answer of the provider", [...(answer ? answerFacts(answer) : []), ...person].map(fact))}
${section("Requirements that only a sign-on can check", requirements.map(requirement))}
${section("Checks", checks.map(check))}
${section(
  "Time",
  Object.entries(timings).map(([step, ms]) => fact({ name: STEPS[step] ?? step, value: `${ms} ms` })),
)}
<p class="quiet reference">Reference <strong>${reference}</strong><br>No customer, code or token was created.</p>`,
  });
}

const STEPS: Record<string, string> = {
  discovery: "Discovery document",
  wait: "Queue",
  token: "Token endpoint",
  identify: "Keys, ID token, UserInfo",
};

function verdict(failure: TestReport["failure"]): Html {
  if (!failure) return html`<h1>${mark(true)} Test passed</h1><p>This person would be signed in now.</p>`;
  return html`<h1>${mark(false)} Test failed</h1><p>${inWords(failure.means)}</p><p>${inWords(failure.remedy)}</p><p><code>${failure.reason}</code></p>`;
}

const CALLS: Record<IdpAnswer["call"], string> = {
  discovery: "discovery document",
  authorize: "authorization endpoint",
  token: "token endpoint",
  userinfo: "UserInfo endpoint",
};

/** Under the names that the record uses. */
function answerFacts({ call, status, fault, error, error_description }: IdpAnswer): TestReport["person"] {
  const named = { "HTTP status": status, Fault: fault?.replaceAll("_", " "), error, error_description };
  const facts = Object.entries(named).map(([name, value]) => ({ name, value: String(value ?? "") }));
  return [{ name: "From", value: CALLS[call] }, ...facts.filter(({ value }) => value !== "")];
}

const section = (title: string, rows: Html[]): Html | string =>
  rows.length === 0 ? "" : html`<h2>${title}</h2><dl>${rows}</dl>`;

const fact = ({ name, value }: { name: string; value: string }): Html =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const STATUS = { met: "met", not_met: "not met", unknown: "not known yet" } as const;

const requirement = ({ id, requirement: text, status, evidence }: TestReport["requirements"][number]): Html =>
  html`<div><dt>${mark(status === "unknown" ? undefined : status === "met")} ${id} ${STATUS[status]}</dt><dd>${text}<span class="quiet">${inWords(evidence)}</span></dd></div>`;

const check = ({ check: name, passed, expected, found }: TestReport["checks"][number]): Html =>
  html`<div><dt>${mark(passed)} <code>${name}</code></dt><dd>${side("Expected", expected)}${side("Found", found)}${expected === undefined && found === undefined ? (passed ? "As expected" : "Not as expected") : ""}</dd></div>`;

const side = (name: string, value: string | undefined): Html | string =>
  value === undefined
    ? ""
    : html`<span class="side"><span class="quiet">${name}</span> <code>${value}</code></span>`;

/** The label is for screen readers. */
const mark = (passed: boolean | undefined): Html => {
  if (passed === undefined) return html`<span class="mark">?</span>`;
  return passed
    ? html`<span class="mark good" role="img" aria-label="passed">✓</span>`
    : html`<span class="mark bad" role="img" aria-label="failed">✗</span>`;
};
