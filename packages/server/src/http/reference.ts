import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "./serve.ts";

/** The API reference at /docs: Swagger UI from its package, served by us, nothing fetched from elsewhere. */

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Latchkey API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<div id="reference"><p class="waiting">Loading the reference…</p></div>
<noscript><p class="waiting">This page needs JavaScript. The same contract as data: <a href="/openapi.json">/openapi.json</a>.</p></noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`;

const SCRIPT = `if (matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark-mode");
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

const STYLE = `html { overflow-y: scroll; }
body { margin: 0; font-family: system-ui, sans-serif; }
.waiting { padding: 3rem; text-align: center; }
.swagger-ui .topbar { display: none; }
.swagger-ui .info { margin: 2rem 0 1rem; }
@media (prefers-color-scheme: dark) { html, body { background: #1c2022; color: #e4e6e6; } }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 12px; }
  .swagger-ui .opblock-summary-control { flex-wrap: nowrap; align-items: flex-start; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 62px; padding: 6px 0; font-size: 12px; }
  .swagger-ui .opblock-summary-path-description-wrapper { flex-direction: column; align-items: flex-start; gap: 2px; }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; padding: 4px 10px 0; font-size: 13px; }
  .swagger-ui .opblock .opblock-summary-description { padding: 0 10px; }
}
`;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

function page(
  path: string,
  mediaType: string,
  cacheControl: string,
  read: () => string | Promise<string>,
): Page {
  let body: string | Promise<string> | undefined;
  return {
    path,
    async respond() {
      body ??= read();
      const headers = {
        "Content-Type": `${mediaType}; charset=utf-8`,
        "Cache-Control": cacheControl,
        "Content-Security-Policy": POLICY,
      };
      return { status: 200, headers, body: await body };
    },
  };
}

const asset = (name: string): Promise<string> =>
  readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)), "utf8");

export const referencePages: readonly Page[] = [
  page("/docs", "text/html", "no-cache", () => PAGE),
  page("/docs/page.js", "text/javascript", "no-cache", () => SCRIPT),
  page("/docs/page.css", "text/css", "no-cache", () => STYLE),
  page("/docs/swagger-ui.css", "text/css", "public, max-age=86400", () => asset("swagger-ui.css")),
  page("/docs/swagger-ui-bundle.js", "text/javascript", "public, max-age=86400", () =>
    asset("swagger-ui-bundle.js"),
  ),
];
