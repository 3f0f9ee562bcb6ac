import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { STYLE } from "./style.ts";

/** HTML whose inserted values are escaped, unless they are `Html` too. */
export type Html = { readonly html: string };
type Part = string | number | Html | readonly Html[] | false | undefined;

export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html => ({
  html: texts.map((text, index) => text + written(parts[index])).join(""),
});

function written(part: Part): string {
  if (part === undefined || part === false) return "";
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "html" in part ? part.html : part.map((one) => one.html).join("");
}

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");

const styleHash = createHash("sha256").update(STYLE).digest("base64");

/**
 * `forms`: the targets that the page's forms may have. Browsers apply `form-action` to redirects too. The
 * sign-in form ends in a redirect to the service and to a shop with an unknown URL, so only the sign-in page
 * uses "anywhere".
 */
export const pageHeaders = (forms: "here" | "anywhere" = "here"): Record<string, string> => ({
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(forms === "here" ? ["form-action 'self'"] : []),
  ].join("; "),
  "X-Frame-Options": "DENY",
  "X-Content-Type-Options": "nosniff",
  // Not `no-referrer`: browsers would send `Origin: null` with a form, and `isFromOwnPage` would refuse the form.
  "Referrer-Policy": "same-origin",
  "Cache-Control": "no-store",
});

export function sendPage(response: ServerResponse, status: number, page: string, forms?: "anywhere"): void {
  response.writeHead(status, pageHeaders(forms));
  response.end(page);
}

const MARK = html`<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9" fill="#20263a"/><circle cx="16" cy="12.5" r="5" fill="none" stroke="#f5b301" stroke-width="2.6"/><path d="M16 17.5v8m0-1.5h4m-4-3.2h3" fill="none" stroke="#f5b301" stroke-width="2.6" stroke-linecap="round"/></svg>`;

/** Redirects to the shop that this provider was started with. */
export const SHOP_PATH = "/shop";

type Frame = { title: string; width: "narrow" | "wide"; link?: { href: string; text: string }; body: Html };

export const renderPage = ({ title, width, link, body }: Frame): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Practice provider</title>
<link rel="icon" href="data:,">
<style>${{ html: STYLE }}</style>
</head>
<body>
<header class="top ${width}"><span class="brand">${MARK}Practice provider</span><nav class="row" aria-label="Elsewhere">${link && html`<a href="${link.href}">${link.text}</a>`}<a href="${SHOP_PATH}">Back to the shop</a></nav></header>
<main class="${width}">${body}</main>
</body>
</html>
`.html;
