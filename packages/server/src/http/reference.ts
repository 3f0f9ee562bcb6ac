import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Hono } from "hono";

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

const headers = (mediaType: string, cacheControl: string): Record<string, string> => ({
  "Content-Type": `${mediaType}; charset=utf-8`,
  "Cache-Control": cacheControl,
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
});

export function serveReference(app: Hono<never>): void {
  const text = (
    path: string,
    mediaType: string,
    body: () => string | Promise<string>,
    cacheControl: string,
  ) =>
    app.on(
      "GET",
      path,
      async () => new Response(await body(), { headers: headers(mediaType, cacheControl) }),
    );

  text("/docs", "text/html", () => PAGE, "no-cache");
  text("/docs/page.js", "text/javascript", () => SCRIPT, "no-cache");
  text("/docs/page.css", "text/css", () => STYLE, "no-cache");
  text("/docs/swagger-ui.css", "text/css", () => asset("swagger-ui.css"), "public, max-age=86400");
  text(
    "/docs/swagger-ui-bundle.js",
    "text/javascript",
    () => asset("swagger-ui-bundle.js"),
    "public, max-age=86400",
  );
}

const asset = (name: string): Promise<string> =>
  readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)), "utf8");
