import { ApiError } from "@latchkey/sdk";
import { findToken, goTo, keepToken, leaveNotice, storefrontOfBrowser } from "../../lib/shop";

/** The answer is read here and is gone from the address with the redirect. */
export async function GET(request: Request) {
  const storefront = await storefrontOfBrowser();
  try {
    await keepToken(await storefront.completeSignOn(request.url));
    return goTo("/account");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Back or reload: this sign-on is over, and the shopper is signed in.
    const isOver = error.code === "callback_replay" || error.code === "state_unknown";
    if (isOver && (await findToken())) return goTo("/account");
    await leaveNotice(error);
    // A browser that has not brought the sign-on's cookie may not bring the notice's either: the address says what is missing.
    return goTo(error.code === "state_unknown" ? "/sign-in?without=cookies" : "/sign-in");
  }
}
