import { dropToken, findCustomer, goTo } from "../../../lib/shop";

/**
 * Deletes the token's cookie, which a page cannot do. Keeps a token that works, so a link on another site
 * signs no one out.
 */
export async function GET() {
  if (await findCustomer()) return goTo("/account");
  await dropToken();
  return goTo("/sign-in");
}
