import { Router } from "express";
import { createSignOn } from "./sign-on.js";

/**
 * The requests of the page to its own server. The token stays on the server; the page gets the customer's
 * data only.
 */
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

  // An `ApiError` of the SDK has a message for shoppers. Messages of other errors are only for the log.
  router.use((error, _request, response, _next) => {
    console.error(error);
    const message = error.name === "ApiError" ? error.message : "Please try again in a moment.";
    response.status(503).json({ message, reference: error.requestId });
  });
  return router;
}
