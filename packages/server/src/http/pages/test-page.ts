import type { TestReport } from "../../contract/browser.ts";
import type { IdpAnswer } from "../../contract/sign-on-reasons.ts";
import { framed, type Reader } from "./frame.ts";
import { type Html, html, inWords } from "./html.ts";

/** The console speaks English, and so does this. */
export const ADMINISTRATOR: Reader = { language: "en" };

/** The page that an administrator's test sign-on ends on. Values of the provider stand in it as text, and in no other way. */
export function testPage(report: TestReport): string {
  const { profileName, reference, failure, answer, person, requirements, checks, timings } = report;
  return framed(ADMINISTRATOR, {
    title: "Test sign-on",
    isWide: true,
    body: html`<p class="quiet">Test sign-on · ${profileName}</p>
${verdict(failure)}
${section("What the provider said", [...(answer ? answerFacts(answer) : []), ...person].map(fact))}
${section("Requirements that only a sign-on can show", requirements.map(requirement))}
${section("Checks", checks.map(check))}
${section(
  "Time",
  Object.entries(timings).map(([step, ms]) => fact({ name: STEPS[step] ?? step, value: `${ms} ms` })),
)}
<p class="quiet reference">Reference <strong>${reference}</strong><br>Nobody was signed in: no customer, no code and no token were made.</p>`,
  });
}

const STEPS: Record<string, string> = {
  discovery: "Discovery document",
  wait: "Waiting for a place",
  token: "Token endpoint",
  identify: "Keys, ID token, UserInfo",
};

function verdict(failure: TestReport["failure"]): Html {
  if (!failure)
    return html`<h1>${mark(true)} The test came through</h1><p>This person would be signed in now.</p>`;
  return html`<h1>${mark(false)} The test failed</h1><p>${inWords(failure.means)}</p><p>${inWords(failure.remedy)}</p><p><code>${failure.reason}</code></p>`;
}

const CALLS: Record<IdpAnswer["call"], string> = {
  discovery: "its discovery document",
  authorize: "the sign-in itself",
  token: "its token endpoint",
  userinfo: "its UserInfo endpoint",
};

/** By the names that the record has for them, which the reasons speak of. */
function answerFacts({ call, status, fault, error, error_description }: IdpAnswer): TestReport["person"] {
  const said = { "HTTP status": status, Fault: fault?.replaceAll("_", " "), error, error_description };
  const facts = Object.entries(said).map(([name, value]) => ({ name, value: String(value ?? "") }));
  return [{ name: "At", value: CALLS[call] }, ...facts.filter(({ value }) => value !== "")];
}

const section = (title: string, rows: Html[]): Html | string =>
  rows.length === 0 ? "" : html`<h2>${title}</h2><dl>${rows}</dl>`;

const fact = ({ name, value }: { name: string; value: string }): Html =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const STATUS = { met: "met", not_met: "not met", unknown: "cannot be told yet" } as const;

const requirement = ({ id, requirement: text, status, evidence }: TestReport["requirements"][number]): Html =>
  html`<div><dt>${mark(status === "unknown" ? undefined : status === "met")} ${id} ${STATUS[status]}</dt><dd>${text}<span class="quiet">${inWords(evidence)}</span></dd></div>`;

const check = ({ check: name, passed, expected, found }: TestReport["checks"][number]): Html =>
  html`<div><dt>${mark(passed)} <code>${name}</code></dt><dd>${side("Expected", expected)}${side("Found", found)}${expected === undefined && found === undefined ? (passed ? "As expected" : "Not as expected") : ""}</dd></div>`;

const side = (name: string, value: string | undefined): Html | string =>
  value === undefined
    ? ""
    : html`<span class="side"><span class="quiet">${name}</span> <code>${value}</code></span>`;

/** In words, too: not everybody sees the colour or the sign. */
const mark = (passed: boolean | undefined): Html => {
  if (passed === undefined) return html`<span class="mark">?</span>`;
  return passed
    ? html`<span class="mark good" role="img" aria-label="passed">✓</span>`
    : html`<span class="mark bad" role="img" aria-label="failed">✗</span>`;
};
