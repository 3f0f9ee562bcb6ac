import { resolve } from "node:path";
import express from "express";
import { createBackend } from "./backend.js";

/** The production server: the backend, and the files of `npm run build`. */
const app = express();
app.disable("x-powered-by");

app.use((_request, response, next) => {
  response.set({
    // No `form-action`: browsers apply it to redirects as well, and the sign-in form ends at the identity provider.
    "Content-Security-Policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    // Not `no-referrer`: with it browsers send no `Origin` with a form.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
  });
  next();
});
app.use(createBackend(process.env));
app.use(express.static("dist"));
// Every other path belongs to the page.
app.get("/{*path}", (_request, response) => response.sendFile(resolve("dist/index.html")));

const { SHOP_URL, PORT } = process.env;
const port = PORT ?? new URL(SHOP_URL).port;
// Listens on this machine only. In a container, or without a proxy, omit the host.
app.listen(port, "localhost", () => console.log(`The shop is open: ${SHOP_URL}`));
