import { createHash } from "node:crypto";
import type { Shop } from "../../contract/browser.ts";
import { withTokens } from "../look/look.ts";
import { accentOf } from "./accent.ts";
import { type Html, html, raw } from "./html.ts";
import type { Language } from "./language.ts";
import { pageWords } from "./words/all.ts";

/**
 * The frame of every page that a shopper sees. It shows nothing of the request but a reference or an id of Latchkey's
 * own. It loads nothing but the shop's logo, and no other site can put the page into a frame.
 */
const STYLE = withTokens(`
:root { --accent: var(--pine); }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; justify-items: center; gap: var(--gap-3);
  grid-template-columns: minmax(0, 27rem); padding: var(--gap-4) var(--gutter); background: var(--paper); color: var(--ink);
  font: 400 var(--text)/1.55 var(--sans); overflow-wrap: anywhere; }
h1, h2, header { font-family: var(--serif); font-weight: 600; line-height: 1.2; letter-spacing: -.01em; text-wrap: balance; }
:lang(ja) { word-break: auto-phrase; }
:lang(ja) :is(h1, h2, header) { font-family: var(--sans); letter-spacing: 0; }
header { justify-self: start; display: flex; align-items: center; gap: var(--gap-2); padding: 0 var(--gap-1); font-size: var(--text-large); }
header img { flex: none; height: var(--touch); max-width: 14rem; padding: var(--gap-1); border-radius: var(--round-small);
  background: #fff; object-fit: contain; object-position: left; }
main { width: 100%; padding: clamp(1.25rem, 5vw, 2rem); border: var(--hair) solid var(--line); border-radius: var(--round); background: var(--card); }
h1 { font-size: 1.5rem; margin: 0 0 var(--gap-3); }
h2 { font-size: var(--text-large); margin: var(--gap-5) 0 var(--gap-2); }
p { margin: 0 0 var(--gap-2); text-wrap: pretty; }
.quiet { color: var(--quiet); font-size: var(--text-small); }
.way { margin: var(--gap-4) 0 0; }
.way a, .way button { display: inline-block; padding: .7rem 1.2rem;
  border: var(--edge) solid transparent; border-radius: 99px; background: var(--accent); color: var(--on-pine);
  font: 600 .97rem/1.25 var(--sans); text-decoration: none; cursor: pointer; }
.way a:hover, .way button:hover { text-decoration: underline; text-underline-offset: .2em; }
.aside a { display: inline; padding: 0; border: 0; background: none; color: var(--accent); font: inherit; text-decoration: underline; text-underline-offset: .2em; }
.details { margin: var(--gap-4) 0 0; }
a:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.reference { margin: var(--gap-4) 0 0; padding-top: var(--gap-3); border-top: var(--hair) solid var(--line); }
.reference strong { font: 600 1.05rem var(--mono); letter-spacing: .06em; color: var(--ink); }
.long strong { font-size: .8rem; letter-spacing: 0; }
code { font: .84rem var(--mono); }
ul { list-style: none; margin: var(--gap-4) 0 0; padding: 0; display: grid; gap: var(--gap-2); }
li a, li button { display: block; width: 100%; min-height: var(--touch); padding: .75rem 1rem; border: var(--edge) solid var(--line-strong);
  border-radius: var(--round-small); background: none; color: inherit; font: 600 var(--text)/1.4 var(--sans); text-align: start;
  text-decoration: none; overflow-wrap: anywhere; cursor: pointer; }
li a:hover, li button:hover { background: var(--sunken); border-color: var(--accent); }
li .quiet { display: block; font-weight: 400; }
body.wide { grid-template-columns: minmax(0, 46rem); }
dl { margin: 0; }
dl div { display: grid; grid-template-columns: minmax(9rem, 15rem) minmax(0, 1fr); gap: var(--gap-1) var(--gap-4); padding: var(--gap-2) 0;
  border-top: var(--hair) solid var(--line); }
dt { font-weight: 600; }
dd { margin: 0; }
dd .quiet { display: block; }
.side { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr); align-items: baseline; }
.mark { display: inline-block; width: 1.1em; text-align: center; color: var(--quiet); }
.values code { user-select: all; }
.values > span, .next { display: block; }
.good { color: var(--good); }
.bad { color: var(--bad); }
@media (max-width: 34rem) { dl div { grid-template-columns: minmax(0, 1fr); } }
`);

/** The reader's language, and the shop that the reader came from, if Latchkey knows it. */
export type PageReader = { language: Language; shop?: Shop | undefined };

type PageParts = { title: string; body: Html; isWide?: boolean };

export function framed({ language, shop }: PageReader, { title, body, isWide = false }: PageParts): string {
  const accent = accentStyle(shop);
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${shop?.name ? `${title} – ${shop.name}` : title}</title>
<link rel="icon" href="data:,">
<style>${raw(STYLE)}</style>${accent === "" ? "" : html`<style>${raw(accent)}</style>`}
</head>
<body${isWide ? raw(' class="wide"') : ""}>
${shop ? banner(shop) : ""}<main>${body}</main>
</body>
</html>
`.toString();
}

/** The logo has no alternative text, because the name beside it says the same. */
function banner({ name, logoUrl }: Shop): Html | string {
  if (!name && !logoUrl) return "";
  const logo = logoUrl ? html`<img src="${logoUrl}" alt="">` : "";
  return html`<header>${logo}${name ? html`<bdi>${name}</bdi>` : ""}</header>\n`;
}

/** A link to the shop's `home_url`, if the realm has one. */
export function wayBack({ language, shop }: PageReader, look = "way"): Html | string {
  if (!shop?.homeUrl) return "";
  const { backTo, backToShop } = pageWords[language];
  const [before, after] = backTo.split("{shop}");
  const words = shop.name ? html`${before}<bdi>${shop.name}</bdi>${after}` : html`${backToShop}`;
  return html`<p class="${look}"><a href="${shop.homeUrl}">${words}</a></p>`;
}

/** `accentOf` writes both colours itself, so no text of a shop gets into a style. */
function accentStyle(shop: Shop | undefined): string {
  const accent = shop?.accentColor ? accentOf(shop.accentColor) : undefined;
  if (!accent) return "";
  return `:root { --accent: ${accent.light}; } @media screen and (prefers-color-scheme: dark) { :root { --accent: ${accent.dark}; } }`;
}

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const STYLE_HASH = hashOf(STYLE);

/**
 * `formTargets`: the origins that a form of the page may lead to. Chromium checks each redirect after the form, too.
 */
export function pageHeaders({ language, shop }: PageReader, formTargets = "'none'"): Record<string, string> {
  const accent = accentStyle(shop);
  const policy = [
    "default-src 'none'",
    // `data:` is the empty icon, which keeps a browser from asking for /favicon.ico. The other origin is the logo's.
    `img-src data:${shop?.logoUrl ? ` ${new URL(shop.logoUrl).origin}` : ""}`,
    `style-src ${STYLE_HASH}${accent === "" ? "" : ` ${hashOf(accent)}`}`,
    "base-uri 'none'",
    `form-action ${formTargets}`,
    "frame-ancestors 'none'",
  ].join("; ");
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Language": language,
    "Content-Security-Policy": policy,
    Vary: "Accept-Language",
  };
}
