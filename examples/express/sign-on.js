import { ApiError, createStorefront } from "@latchkey/sdk";
import cookieParser from "cookie-parser";
import { Router, urlencoded } from "express";

const NO_COOKIES = {
  message:
    "Your browser has kept no cookie of this shop, and without one nobody can sign in. Allow cookies for it, then try again.",
};

/**
 * Sign-on that runs on the server. Code, verifier and customer token travel in HttpOnly cookies, where no script of a page can read
 * them.
 */
export function createSignOn({ latchkeyUrl, clientId, shopUrl }) {
  const { origin, protocol } = new URL(shopUrl);
  const isHttps = protocol === "https:";
  // A browser takes a `__Host-` cookie only from this very host, over https: another subdomain cannot plant one.
  const nameOf = (name) => (isHttps ? "__Host-" : "") + name.replace(":", "-");
  const SESSION = nameOf("customer");
  const NOTICE = nameOf("notice");
  const PROMPT = nameOf("prompt");
  const attributes = { httpOnly: true, sameSite: "lax", secure: isHttps, path: "/" };

  const connection = { baseUrl: latchkeyUrl, clientId };
  const shop = createStorefront(connection);

  /** Each open sign-on is a cookie of the browser that began it. An answer that is brought to another browser finds none there. */
  const storefrontFor = (request, response) =>
    createStorefront({
      ...connection,
      storage: {
        getItem: (name) => request.cookies[nameOf(name)] ?? null,
        setItem: (name, value) => response.cookie(nameOf(name), value, { ...attributes, maxAge: 900_000 }),
        removeItem: (name) => response.clearCookie(nameOf(name), attributes),
      },
    });

  /**
   * In a cookie rather than in the address: nobody can send a shopper a link with a message of their own. A browser that has not brought
   * the sign-on's cookie may not bring this one either; then the address says what is missing.
   */
  function tell(response, error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, reference } = error;
    // The provider remembers who was there, and would send the same person into the same refusal: next time it is to ask.
    if (code === "access_denied" || code === "sign_on_refused")
      response.cookie(PROMPT, "login", { ...attributes, maxAge: 900_000 });
    const notice = new URLSearchParams({ message, ...(reference && { reference }) });
    response.cookie(NOTICE, String(notice), { ...attributes, maxAge: 60_000 });
    response.redirect(303, code === "state_unknown" ? "/sign-in?without=cookies" : "/sign-in");
  }

  const router = Router();
  router.use(cookieParser());

  // A browser names the page that sends a POST. Another site's form is refused here, whatever cookies it comes with.
  router.use((request, response, next) => {
    if (request.method === "GET" || request.method === "HEAD" || request.get("Origin") === origin) next();
    else response.status(403).type("text").send("This form was sent from another site.");
  });

  // The notice has come, so the browser keeps cookies: loaded again, without the notice, this address would say that it does not.
  router.get("/sign-in", (request, response, next) => {
    if (request.query.without && NOTICE in request.cookies) response.redirect(303, "/sign-in");
    else next();
  });

  router.post("/sign-in", urlencoded(), async (request, response) => {
    try {
      const { url } = await storefrontFor(request, response).beginSignOn(request.body?.provider, {
        redirectUri: `${origin}/signed-in`,
        scope: "openid email profile",
        prompt: request.cookies[PROMPT],
      });
      response.redirect(303, url);
    } catch (error) {
      tell(response, error);
    }
  });

  // The answer is read here and is gone from the address with the redirect.
  router.get("/signed-in", async (request, response) => {
    try {
      const { token, expiresAt } = await storefrontFor(request, response).completeSignOn(request.url);
      response.cookie(SESSION, token, { ...attributes, expires: new Date(expiresAt) });
      for (const name of [NOTICE, PROMPT]) response.clearCookie(name, attributes);
      response.redirect(303, "/account");
    } catch (error) {
      // Back or reload: this sign-on is over, and the shopper is signed in.
      const isOver = error.code === "callback_replay" || error.code === "state_unknown";
      if (isOver && request.cookies[SESSION]) response.redirect(303, "/account");
      else tell(response, error);
    }
  });

  router.post("/sign-out", async (request, response) => {
    const token = request.cookies[SESSION];
    response.clearCookie(SESSION, attributes);
    try {
      if (token) await shop.customer(token).signOut();
    } catch (error) {
      // Signed out here all the same; the token itself ends at its own time.
      console.error("The token could not be revoked:", error.message);
    }
    response.redirect(303, "/");
  });

  return {
    router,
    listProviders: () => shop.listProviders(),
    isSignedIn: (request) => SESSION in request.cookies,

    /** Who is signed in. The service checks the token: one that has ended is thrown away. */
    async findCustomer(request, response) {
      const token = request.cookies[SESSION];
      if (!token) return undefined;
      try {
        return await shop.customer(token).get();
      } catch (error) {
        if (error.code !== "customer_token_invalid") throw error;
        response.clearCookie(SESSION, attributes);
        return undefined;
      }
    },

    /** What went wrong with the last sign-on: told once. */
    takeNotice(request, response) {
      if (!(NOTICE in request.cookies)) return request.query.without === "cookies" ? NO_COOKIES : undefined;
      response.clearCookie(NOTICE, attributes);
      // On localhost other programs may have a cookie of this name: theirs has no message.
      const notice = new URLSearchParams(String(request.cookies[NOTICE]));
      return notice.has("message") ? Object.fromEntries(notice) : undefined;
    },
  };
}
