import express from "express";
import { accountPage, failurePage, homePage, signInPage } from "./pages.js";
import { createSignOn } from "./sign-on.js";

const { LATCHKEY_URL, LATCHKEY_CLIENT_ID, SHOP_URL, PORT } = process.env;
const signOn = createSignOn({
  latchkeyUrl: LATCHKEY_URL,
  clientId: LATCHKEY_CLIENT_ID,
  shopUrl: SHOP_URL,
});

const app = express();
app.disable("x-powered-by");

app.use((_request, response, next) => {
  response.set({
    // No `form-action`: browsers apply it to redirects as well, and the sign-in form ends at the identity provider.
    "Content-Security-Policy":
      "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
    // Not `no-referrer`: with it browsers send no `Origin` with a form.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
  });
  next();
});
app.use(express.static("public"));
app.use(signOn.router);

app.get("/", (request, response) => {
  response.send(homePage({ isSignedIn: signOn.isSignedIn(request) }));
});

app.get("/sign-in", async (request, response) => {
  const providers = await signOn.listProviders();
  // Reads the notice last, because reading deletes it: if the list fails, the next page shows the notice.
  response.send(signInPage({ providers, notice: signOn.takeNotice(request, response) }));
});

app.get("/account", async (request, response) => {
  const customer = await signOn.findCustomer(request, response);
  if (customer) response.set("Cache-Control", "no-store").send(accountPage({ customer }));
  else response.redirect(303, "/sign-in");
});

// Express recognizes an error handler by its four parameters.
app.use((error, _request, response, _next) => {
  console.error(error);
  response.status(503).send(failurePage(error));
});

const port = PORT ?? new URL(SHOP_URL).port;
// Listens on this machine only. In a container, or without a proxy, omit the host.
app.listen(port, "localhost", () => console.log(`The shop is open: ${SHOP_URL}`));
