import type { TestReport } from "../../contract/browser.ts";
import { framed, type PageReader } from "./frame.ts";
import { english, type Html, html, inWords } from "./html.ts";
import type { Language } from "./language.ts";
import { setupWords } from "./setup-words/all.ts";
import { testWords } from "./test-words/all.ts";
import type { TestWords } from "./test-words/en.ts";
import { pageWords } from "./words/all.ts";

/**
 * The page at the end of an administrator's test sign-on. The provider's values are escaped. Meaning and remedy of a
 * reason are in English, as in the record and the API.
 */
export function testPage(report: TestReport, { language }: PageReader): string {
  const { profileName, reference, failure, requirements, checks } = report;
  const words = testWords[language];
  return framed(
    { language },
    {
      title: words.title,
      isWide: true,
      body: html`<p class="quiet">${words.title} · <bdi>${profileName}</bdi></p>
${verdict(words, failure)}
${section(words.answer.heading, [...answerFacts(words, report), ...personFacts(words, report)].map(fact))}
${section(
  words.requirements.heading,
  requirements.map((one) => requirement(language, one, failure)),
)}
${section(
  words.checks.heading,
  checks.map((one) => check(words, one)),
)}
${section(words.time.heading, timeFacts(words, report).map(fact))}
<p class="quiet reference">${pageWords[language].reference} <strong>${reference}</strong><br>${words.nothingCreated}</p>`,
    },
  );
}

function verdict({ marks, passed, failed }: TestWords, failure: TestReport["failure"]): Html {
  if (!failure) return html`<h1>${mark(marks, true)} ${passed.heading}</h1><p>${passed.text}</p>`;
  return html`<h1>${mark(marks, false)} ${failed.heading}</h1><p>${english(failure.means)}</p><p>${english(failure.remedy)}</p><p><code>${failure.reason}</code></p>`;
}

type Fact = { name: string; value: string | Html };

/** `error` and `error_description` under the names that the record uses. */
function answerFacts({ answer: words }: TestWords, { answer }: TestReport): Fact[] {
  if (!answer) return [];
  const { call, status, fault, error, error_description } = answer;
  return [
    { name: words.from, value: words.calls[call] },
    ...(status === null ? [] : [{ name: words.status, value: String(status) }]),
    ...(fault === null ? [] : [{ name: words.fault, value: english(fault.replaceAll("_", " ")) }]),
    ...Object.entries({ error, error_description }).flatMap(([name, value]) =>
      value ? [{ name, value }] : [],
    ),
  ];
}

function personFacts({ person: words }: TestWords, { person }: TestReport): Fact[] {
  if (!person) return [];
  const { email, isEmailVerified, name, subject } = person;
  const shown = isEmailVerified ? words.verified : words.unverified;
  return [
    { name: words.email, value: shown.replace("{email}", () => email) },
    ...(name === null ? [] : [{ name: words.name, value: name }]),
    { name: words.subject, value: subject },
  ];
}

function timeFacts({ time }: TestWords, { timings }: TestReport): Fact[] {
  const steps: Record<string, string> = time.steps;
  return Object.entries(timings).map(([step, ms]) => ({ name: steps[step] ?? step, value: `${ms} ms` }));
}

const section = (title: string, rows: Html[]): Html | string =>
  rows.length === 0 ? "" : html`<h2>${title}</h2><dl>${rows}</dl>`;

const fact = ({ name, value }: Fact): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

/** The page of a set-up link has the same requirements in the same words. */
function requirement(
  language: Language,
  { id, status }: TestReport["requirements"][number],
  failure: TestReport["failure"],
): Html {
  const { marks, requirements: words } = testWords[language];
  const { checks, requirements } = setupWords[language];
  const { what, unknown = words.notReached } = requirements[id];
  const evidence = {
    met: words.confirmed,
    not_met: failure && english(failure.means),
    unknown: inWords(unknown),
  }[status];
  const sign = mark(marks, status === "unknown" ? undefined : status === "met");
  return html`<div><dt>${sign} ${id} ${checks.status[status]}</dt><dd>${inWords(what)}<span class="quiet">${evidence}</span></dd></div>`;
}

function check(
  { marks, checks }: TestWords,
  { check: name, passed, expected, found }: TestReport["checks"][number],
): Html {
  const sides = [side(checks.expected, expected), side(checks.found, found)];
  const isBare = expected === undefined && found === undefined;
  const shown = isBare ? (passed ? checks.asExpected : checks.notAsExpected) : sides;
  return html`<div><dt>${mark(marks, passed)} <code>${name}</code></dt><dd>${shown}</dd></div>`;
}

const side = (name: string, value: string | undefined): Html | string =>
  value === undefined
    ? ""
    : html`<span class="side"><span class="quiet">${name}</span> <code>${value}</code></span>`;

/** The label is for screen readers. */
const mark = (marks: TestWords["marks"], passed: boolean | undefined): Html => {
  if (passed === undefined) return html`<span class="mark">?</span>`;
  return passed
    ? html`<span class="mark good" role="img" aria-label="${marks.passed}">✓</span>`
    : html`<span class="mark bad" role="img" aria-label="${marks.failed}">✗</span>`;
};
