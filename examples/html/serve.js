import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";

/** Serves the files of this folder, for a trial. Any web server does. */
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript" };
const FILES = ["/index.html", "/shop.js", "/config.js", "/latchkey.js", "/style.css"];

const port = Number(process.env.PORT ?? 5500);
createServer(async ({ url }, response) => {
  const [path] = url.replace(/^\/(?=\?|$)/, "/index.html").split("?");
  if (!FILES.includes(path)) return response.writeHead(404).end();
  // No other site may show the page in a frame. A `meta` element cannot set this directive.
  response.setHeader("Content-Security-Policy", "frame-ancestors 'none'");
  response.setHeader("Content-Type", TYPES[extname(path)]);
  response.end(await readFile(new URL(`.${path}`, import.meta.url)));
}).listen(port, "localhost", () => console.log(`The shop is open: http://localhost:${port}/`));
