import type { SetupGuide } from "../../contract/browser.ts";
import { framed, type PageReader } from "./frame.ts";
import { english, type Html, html, inWords } from "./html.ts";
import type { Language } from "./language.ts";
import { setupWords } from "./setup-words/all.ts";
import type { SetupWords } from "./setup-words/en.ts";

/**
 * The page of a set-up link, for the administrator of an identity provider. It has no script: one click selects a value
 * as a whole. Names of the shop and texts of the provider are escaped.
 */
export function setupPage(guide: SetupGuide, { language }: PageReader): string {
  const words = setupWords[language];
  const shop = html`<bdi>${guide.storeName}</bdi>`;
  return framed(
    { language },
    {
      title: words.heading.replaceAll("{shop}", () => guide.storeName),
      isWide: true,
      body: html`<h1>${filled(words.heading, shop)}</h1><p>${filled(words.text, shop)}</p>
<p class="quiet">${namesIn(words, guide)}${timed(words.validUntil, guide.expiresAt, language)}</p>
<h2>${words.values.heading}</h2><dl>${valuesOf(words, guide)}</dl><p class="quiet details">${words.values.secret}</p>
<h2 id="checks">${words.checks.heading}</h2><p class="quiet">${words.checks.text} ${checkedAt(words, guide, language)}</p>
<dl>${guide.checks.map((check) => requirement(words, check))}</dl>${checkForm(words, guide, language)}
${placesIn(words, guide)}`,
    },
  );
}

/** A text with markup in the place of each `{…}`. */
const filled = (text: string, value: Html): Html[] =>
  text.split(/\{\w+\}/).map((part, at) => (at === 0 ? html`${part}` : html`${value}${part}`));

function timed(text: string, at: number, language: Language): Html[] {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "short",
    timeZone: "UTC",
  });
  const time = html`<time datetime="${new Date(at).toISOString()}">${format.format(at)} UTC</time>`;
  return filled(text, time);
}

function namesIn(words: SetupWords, { realmName, profileName }: SetupGuide): Html {
  const realm = realmName === null ? "" : html`${words.realm}: <bdi>${realmName}</bdi><br>`;
  return html`${realm}${words.provider}: <bdi>${profileName}</bdi><br>`;
}

function valuesOf({ values }: SetupWords, guide: SetupGuide): (Html | string)[] {
  const { redirectUris, signedOutUri } = guide;
  const redirects = redirectUris.length === 1 ? values.redirectUri : values.redirectUris;
  const helpful = html`${code("email_verified")}, ${code("name")}, ${code("sid")}`;
  return [
    value(redirects, redirectUris.map(code), values.exactly),
    value(values.logoutUri, [code(guide.backchannelLogoutUri)], values.logoutHint),
    signedOutUri === null ? "" : value(values.signedOutUri, [code(signedOutUri)], values.exactly),
    value(values.flow, [html`Authorization Code Flow (${code("code")}), PKCE ${code("S256")}`]),
    value(values.authentication, [code("client_secret_basic")]),
    value(values.scopes, [code("openid email")], html`${filled(values.scopesHint, code("profile"))}`),
    value(
      values.claims,
      [html`${code("sub")}, ${code("email")}`],
      html`${filled(values.claimsHint, helpful)}`,
    ),
    value(values.clientId, [code(guide.clientId)], values.clientIdHint),
    value(values.document, [code(guide.discoveryUrl)]),
  ];
}

const code = (text: string): Html => html`<code>${text}</code>`;

const value = (name: string, shown: Html[], hint: Html | string = ""): Html =>
  html`<div><dt>${name}</dt><dd class="values">${shown.map((one) => html`<span>${one}</span>`)}${hint === "" ? "" : html`<span class="quiet">${hint}</span>`}</dd></div>`;

function requirement(
  { checks, requirements }: SetupWords,
  { id, status, detail }: SetupGuide["checks"][number],
): Html {
  const { what, remedy, unknown } = requirements[id];
  const ofDocument = id === "R1" || id === "R2" || id === "R3" || id === "R5";
  const open = ofDocument ? checks.notRead : checks.atFirstSignIn;
  const next = { met: "", not_met: remedy, unknown: unknown ?? open }[status];
  const more =
    status === "not_met" && detail !== null
      ? html`<span class="quiet">${checks.details}: ${english(detail)}</span>`
      : "";
  return html`<div><dt>${mark(status)} ${id} ${checks.status[status]}</dt><dd>${inWords(what)}${next === "" ? "" : html`<span class="${status === "not_met" ? "next" : "quiet"}">${inWords(next)}</span>`}${more}</dd></div>`;
}

/** Only for the eye: the word beside it says the same. */
const mark = (status: "met" | "not_met" | "unknown"): Html => {
  const [look, sign] = { met: [" good", "✓"], not_met: [" bad", "✗"], unknown: ["", "?"] }[status];
  return html`<span class="mark${look}" aria-hidden="true">${sign}</span>`;
};

const checkedAt = ({ checks }: SetupWords, guide: SetupGuide, language: Language): Html[] =>
  guide.checkedAt === null ? [html`${checks.never}`] : timed(checks.checkedAt, guide.checkedAt, language);

function checkForm({ checks }: SetupWords, guide: SetupGuide, language: Language): Html {
  const { action, nextAt } = guide.checkForm;
  if (nextAt !== null) return html`<p class="quiet details">${timed(checks.nextAt, nextAt, language)}</p>`;
  const label = guide.checkedAt === null ? checks.checkNow : checks.checkAgain;
  return html`<form method="post" action="${action}"><p class="way"><button>${label}</button></p></form>`;
}

/** The names of a known provider's settings are in English, as in its console. */
function placesIn({ places }: SetupWords, { provider }: SetupGuide): Html | string {
  if (!provider) return "";
  const rows = TOPICS.map((topic) => {
    const place = provider.console[topic];
    return place === undefined ? "" : html`<div><dt>${places[topic]}</dt><dd>${english(place)}</dd></div>`;
  });
  return html`<h2>${filled(places.heading, html`<bdi>${provider.name}</bdi>`)}</h2><dl>${rows}</dl>`;
}

const TOPICS = [
  "callback",
  "secret",
  "method",
  "code_flow",
  "email",
  "encryption",
  "audience",
  "signing",
  "logout",
] as const;
