import { type ProblemCode, problemEntry, problems } from "../../contract/problems.ts";
import { type Html, html, inWords } from "../pages/html.ts";
import { byTag, type Document, type Parameter, type PlacedOperation, type Response } from "./document.ts";
import { curlOf, type Example, exampleOf, needs, placeholderOf } from "./example.ts";
import { members, typeOf } from "./shape.ts";

/** The API reference as one page that works without a script. page.js adds requests with the reader's own token. */
export function renderReference(document: Document, baseUrl: string): string {
  const groups = [...byTag(document)];
  // A proxy may remove a path prefix, which the browser must add to its requests.
  const below = new URL(baseUrl).pathname.replace(/\/$/, "");
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Latchkey API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${below}/docs/page.css">
<script type="module" src="${below}/docs/page.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<h1>Latchkey API reference</h1>
<p>${inWords(document.info.description)}</p>
<p class="quiet">Machine-readable: <a href="${below}/openapi.json">openapi.json</a></p>
</header>
<nav aria-label="Operations">
<details open><summary>Operations</summary>
${groups.map(([tag, placed]) => contents(tag, placed))}
<ul><li><a href="#shapes">Shapes</a></li><li><a href="#problems">Problems</a></li></ul>
</details>
</nav>
<main id="content" data-base="${baseUrl}" data-below="${below}">
${tokens()}
${groups.map(([tag, placed]) => section(tag, placed, document, baseUrl))}
${shapes(document)}
${problemList()}
</main>
</body>
</html>
`.toString();
}

const contents = (tag: string, placed: PlacedOperation[]): Html =>
  html`<p>${tag}</p><ul>${placed.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}</ul>`;

/** Hidden until the script shows it. */
const tokens = (): Html =>
  html`<form id="tokens" hidden>
<h2>Your own tokens</h2>
<p>Enter tokens to complete the commands below and to send them from this page. The tokens are not stored; close the page to remove them.</p>
<div class="fields">
<label>Client ID <input name="client_id" autocomplete="off" spellcheck="false"></label>
<label>Client secret <input name="client_secret" type="password" autocomplete="off"></label>
<button type="submit">Get an access token</button>
<label>Access token <input name="access_token" autocomplete="off" spellcheck="false"></label>
<label>Customer token <input name="customer_token" autocomplete="off" spellcheck="false"></label>
</div>
<p role="status" class="quiet"></p>
</form>`;

const section = (tag: string, placed: PlacedOperation[], document: Document, baseUrl: string): Html =>
  html`<section><h2>${tag}</h2>${placed.map((one) => article(one, exampleOf(one.operation, document), baseUrl))}</section>`;

function article(placed: PlacedOperation, example: Example, baseUrl: string): Html {
  const { method, path, operation } = placed;
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const [body] = Object.entries(requestBody?.content ?? {});
  const answers = Object.entries(responses);
  return html`<article id="${operationId}">
<h3>${summary}</h3>
<p class="place"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${description ? html`<p>${inWords(description)}</p>` : ""}
${tryForm(placed, example, baseUrl)}
${parameters.length > 0 ? html`<h4>Parameters</h4><ul class="members">${parameters.map(parameterLine)}</ul>` : ""}
${body ? html`<h4>Body <span class="quiet">${body[0]}</span></h4>${members(body[1].schema)}` : ""}
<h4>Answers</h4>
${answers.map(([status, response]) => answer(status, response))}
</article>`;
}

const parameterLine = ({ name, in: where, required, description, schema }: Parameter): Html =>
  html`<li><code class="name">${name}</code> ${typeOf(schema)} <span class="quiet">${where}${required ? "" : ", optional"}</span>${description ? html`<p>${inWords(description)}</p>` : ""}</li>`;

function answer(status: string, { description, content }: Response): Html {
  if (Number(status) >= 400)
    return html`<details><summary><strong>${status}</strong> <span class="quiet">${codesIn(description).join(", ")}</span></summary>${problemLinks(description)}</details>`;
  const schema = Object.values(content ?? {})[0]?.schema;
  const said = html`<strong>${status}</strong> ${inWords(description)}`;
  if (!schema) return html`<p>${said}</p>`;
  return html`<details><summary>${said}</summary>${members(schema) || html`<p>${typeOf(schema)}</p>`}</details>`;
}

/** The description of a problem response has its codes between backticks, one per paragraph. */
const codesIn = (description: string): string[] =>
  description.split("\n\n").flatMap((line) => /^`(\w+)`: /.exec(line)?.[1] ?? []);

const problemLinks = (description: string): Html =>
  html`<ul class="members">${codesIn(description).map(
    (code) =>
      html`<li><a href="#problem-${code}"><code>${code}</code></a> ${problemEntry(code as ProblemCode).means}</li>`,
  )}</ul>`;

const EVENTS = "text/event-stream";

function tryForm(placed: PlacedOperation, example: Example, baseUrl: string): Html {
  const { method, path, operation } = placed;
  const { operationId, parameters = [], summary, responses } = operation;
  const shown = Object.entries(needs(operation)).flatMap(([name, isShown]) => (isShown ? [name] : []));
  const field = ({ name, in: where, required }: Parameter) =>
    html`<label>${name} <input name="${name}" data-in="${where}" placeholder="${required ? placeholderOf({ name }) : ""}" autocomplete="off" spellcheck="false"></label>`;
  // A browser does not show a script the target of a redirect, a stream never ends, and a page is for a browser's own
  // window: these have no button.
  const { content = {} } = responses["200"] ?? {};
  const isOnlyCopied =
    "303" in responses || "302" in responses || EVENTS in content || "text/html" in content;
  return html`<form class="try" data-method="${method}" data-path="${path}" data-type="${example.mediaType ?? ""}" data-shows="${shown.join(" ")}">
<details hidden><summary>Fill in</summary>
<div class="fields">
${parameters.map(field)}
${example.body === undefined ? "" : html`<label class="wide">Body <textarea name="body" data-in="body" rows="${Math.min(example.body.split("\n").length, 14)}" spellcheck="false">${example.body}</textarea></label>`}
</div>
</details>
<pre tabindex="0" aria-label="Command: ${summary}"><code>${curlOf(placed, example, baseUrl)}</code></pre>
<p class="acts" hidden><button type="button" data-act="copy" aria-label="Copy the command: ${summary}">Copy</button>${isOnlyCopied ? "" : html`<button type="submit" aria-label="Send ${method}: ${summary}" aria-controls="answer-${operationId}">Send ${method}</button>`}</p>
<output id="answer-${operationId}"></output>
</form>`;
}

const shapes = ({ components }: Document): Html =>
  html`<section id="shapes"><h2>Shapes</h2>${Object.entries(components.schemas).map(
    ([name, shape]) =>
      html`<article id="shape-${name}"><h3>${name}</h3>${shape.description ? html`<p>${inWords(shape.description)}</p>` : ""}${members(shape) || html`<p>${typeOf(shape)}</p>`}</article>`,
  )}</section>`;

const problemList = (): Html =>
  html`<section id="problems"><h2>Problems</h2><dl>${Object.entries(problems).map(
    ([code, { status, means, remedy }]) =>
      html`<div id="problem-${code}"><dt><code>${code}</code> <span class="quiet">${status}</span></dt><dd>${inWords(means)}</dd><dd class="quiet">${inWords(remedy)}</dd></div>`,
  )}</dl></section>`;
