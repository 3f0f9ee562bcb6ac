import { ApiError, createStorefront } from "@latchkey/sdk";
import cookieParser from "cookie-parser";
import { Router, urlencoded } from "express";

const NO_COOKIES = {
  message:
    "Your browser has not stored a cookie of this shop, which sign-in needs. Allow cookies for it, then try again.",
};

/**
 * Runs sign-on on the server. Verifier and customer token are in HttpOnly cookies, which no script of a page
 * can read.
 */
export function createSignOn({ latchkeyUrl, clientId, shopUrl }) {
  const { origin, protocol } = new URL(shopUrl);
  const isHttps = protocol === "https:";
  // Browsers accept a `__Host-` cookie only from this host over https, so another subdomain cannot set it.
  const nameOf = (name) => (isHttps ? "__Host-" : "") + name.replace(":", "-");
  const SESSION = nameOf("customer");
  const NOTICE = nameOf("notice");
  const PROMPT = nameOf("prompt");
  const attributes = { httpOnly: true, sameSite: "lax", secure: isHttps, path: "/" };

  const connection = { baseUrl: latchkeyUrl, clientId };
  const shop = createStorefront(connection);

  /**
   * Stores each open sign-on in a cookie of the browser that began it. In another browser the answer is
   * refused.
   */
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
   * Puts the notice into a cookie, not into the URL, so that a link cannot show a shopper a message of its
   * author. A browser without the sign-on's cookie may refuse this cookie too, so the URL then says that
   * cookies are missing.
   */
  function tell(response, error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, reference } = error;
    // The provider still has a session and would send the same person again, so the next sign-on uses `prompt=login`.
    if (code === "access_denied" || code === "sign_on_refused")
      response.cookie(PROMPT, "login", { ...attributes, maxAge: 900_000 });
    const notice = new URLSearchParams({ message, ...(reference && { reference }) });
    response.cookie(NOTICE, String(notice), { ...attributes, maxAge: 60_000 });
    response.redirect(303, code === "state_unknown" ? "/sign-in?without=cookies" : "/sign-in");
  }

  const router = Router();
  router.use(cookieParser());

  // `Origin` names the site of the page that sends a POST. Refuses forms of other sites, even with valid cookies.
  router.use((request, response, next) => {
    if (request.method === "GET" || request.method === "HEAD" || request.get("Origin") === origin) next();
    else response.status(403).type("text").send("This form was sent from another site.");
  });

  // The notice's cookie arrived, so cookies work. The redirect removes `without`, which would say otherwise
  // after a reload.
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

  // Reads the answer. The redirect removes the answer from the address bar.
  router.get("/signed-in", async (request, response) => {
    try {
      const { token, expiresAt } = await storefrontFor(request, response).completeSignOn(request.url);
      response.cookie(SESSION, token, { ...attributes, expires: new Date(expiresAt) });
      for (const name of [NOTICE, PROMPT]) response.clearCookie(name, attributes);
      response.redirect(303, "/account");
    } catch (error) {
      // Back or reload: this sign-on is finished, and the shopper is signed in.
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
      // The shop signs out anyway. The token works until it expires.
      console.error("The token could not be revoked:", error.message);
    }
    response.redirect(303, "/");
  });

  return {
    router,
    listProviders: () => shop.listProviders(),
    isSignedIn: (request) => SESSION in request.cookies,

    /** The signed-in customer. The service checks the token; a token that no longer works is deleted. */
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

    /** The error of the last sign-on. Reading it deletes it. */
    takeNotice(request, response) {
      if (!(NOTICE in request.cookies)) return request.query.without === "cookies" ? NO_COOKIES : undefined;
      response.clearCookie(NOTICE, attributes);
      // On localhost another program may have set a cookie of this name, which has no message.
      const notice = new URLSearchParams(String(request.cookies[NOTICE]));
      return notice.has("message") ? Object.fromEntries(notice) : undefined;
    },
  };
}
