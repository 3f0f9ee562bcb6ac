import { createHash } from "node:crypto";
import type { Shop } from "../../contract/browser.ts";
import { accentOf, GROUNDS } from "./accent.ts";
import { type Html, html, raw } from "./html.ts";
import type { Language } from "./language.ts";
import { pageWords } from "./words/all.ts";

/**
 * The frame of every page that a shopper sees. It shows nothing of the request but a reference or an id of Latchkey's
 * own. It loads nothing but the shop's logo, and no other site can put the page into a frame.
 */
const STYLE = `
:root { color-scheme: light dark; --back: ${GROUNDS.light}; --card: #fff; --text: #1d2125; --quiet: #5c646c; --line: #dcdcd6; --accent: #0b5f52; --on-accent: #fff; --bad: #a8261b; }
@media (prefers-color-scheme: dark) {
  :root { --back: #15181a; --card: ${GROUNDS.dark}; --text: #eceeef; --quiet: #a3abb2; --line: #343a3f; --accent: #6fd0bd; --on-accent: #15181a; --bad: #ff9d92; }
}
* { box-sizing: border-box; }
:lang(ja) { word-break: auto-phrase; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; justify-items: center; gap: 1rem; grid-template-columns: minmax(0, 27rem);
  padding: 1.25rem; background: var(--back);
  color: var(--text); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
header { justify-self: start; display: flex; align-items: center; gap: .75rem; padding: 0 .25rem; font-weight: 600; }
header img { flex: none; height: 2.75rem; max-width: 14rem; padding: .25rem; border-radius: 6px; background: #fff;
  object-fit: contain; object-position: left; }
main { width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  padding: 2rem 1.75rem; }
h1 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .75rem; text-wrap: balance; }
p { margin: 0 0 .75rem; }
.quiet { color: var(--quiet); font-size: .875rem; }
.way { margin: 1.25rem 0 0; }
.way a, .way button { display: inline-block; padding: .7rem 1.1rem; border: 0; border-radius: 10px; background: var(--accent);
  color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
.way a:hover, .way button:hover { text-decoration: underline; }
.aside a { padding: 0; background: none; color: var(--accent); font-weight: 400; text-decoration: underline; text-underline-offset: .18em; }
.details { margin: 1.25rem 0 0; }
a:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.reference { margin: 1.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); }
.reference strong { font: 600 1.05rem ui-monospace, monospace; letter-spacing: .06em; color: var(--text); }
.long strong { font-size: .8rem; letter-spacing: 0; }
code { font: .8rem ui-monospace, monospace; }
ul { list-style: none; margin: 1.25rem 0 0; padding: 0; display: grid; gap: .6rem; }
li a, li button { display: block; width: 100%; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 10px;
  background: none; color: inherit; font: inherit; font-weight: 600; text-align: start; text-decoration: none; overflow-wrap: anywhere;
  cursor: pointer; }
li a:hover, li a:focus-visible, li button:hover, li button:focus-visible { border-color: var(--accent); }
li a:hover, li button:hover { outline: 1px solid var(--accent); }
li .quiet { display: block; font-weight: 400; }
body.wide { grid-template-columns: minmax(0, 46rem); }
h2 { font-size: 1rem; margin: 1.75rem 0 .25rem; }
dl { margin: 0; }
dl div { display: grid; grid-template-columns: minmax(9rem, 15rem) 1fr; gap: .25rem 1.25rem; padding: .6rem 0; border-top: 1px solid var(--line); }
dt { font-weight: 600; }
dd { margin: 0; }
dd .quiet { display: block; }
.side { display: grid; grid-template-columns: 4.5rem 1fr; align-items: baseline; }
.mark { display: inline-block; width: 1.1em; text-align: center; color: var(--quiet); }
.values code { user-select: all; }
.values > span, .next { display: block; }
.good { color: var(--accent); }
.bad { color: var(--bad); }
@media (max-width: 34rem) { dl div { grid-template-columns: 1fr; } main { padding: 1.5rem 1.15rem; } }
`;

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
  return `:root { --accent: ${accent.light}; } @media (prefers-color-scheme: dark) { :root { --accent: ${accent.dark}; } }`;
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
