import { Router } from "express";
import { createSignOn } from "./sign-on.js";

/** What the page asks its own server. The customer token stays there: the page hears who is signed in, and no more. */
export function createBackend({ LATCHKEY_URL, LATCHKEY_CLIENT_ID, SHOP_URL }) {
  const signOn = createSignOn({
    latchkeyUrl: LATCHKEY_URL,
    clientId: LATCHKEY_CLIENT_ID,
    shopUrl: SHOP_URL,
  });
  const router = Router();
  router.use(signOn.router);

  router.get("/api/session", async (request, response) => {
    const customer = await signOn.findCustomer(request, response);
    const notice = signOn.takeNotice(request, response);
    response.set("Cache-Control", "no-store").json({ customer, notice });
  });

  router.get("/api/providers", async (_request, response) => {
    response.json(await signOn.listProviders());
  });

  // What the SDK throws has a message for shoppers; any other error's is for the log alone.
  router.use((error, _request, response, _next) => {
    console.error(error);
    const message = error.name === "ApiError" ? error.message : "Please try again in a moment.";
    response.status(503).json({ message, reference: error.requestId });
  });
  return router;
}
