import { ApiError } from "@latchkey/sdk";
import { findToken, goTo, keepToken, leaveNotice, storefrontOfBrowser } from "../../lib/shop";

/** Reads the answer. The redirect removes the answer from the address bar. */
export async function GET(request: Request) {
  const storefront = await storefrontOfBrowser();
  try {
    await keepToken(await storefront.completeSignOn(request.url));
    return goTo("/account");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Back or reload: this sign-on is finished, and the shopper is signed in.
    const isOver = error.code === "callback_replay" || error.code === "state_unknown";
    if (isOver && (await findToken())) return goTo("/account");
    await leaveNotice(error);
    // A browser without the sign-on's cookie may refuse the notice's too, so the URL says that cookies are missing.
    return goTo(error.code === "state_unknown" ? "/sign-in?without=cookies" : "/sign-in");
  }
}
