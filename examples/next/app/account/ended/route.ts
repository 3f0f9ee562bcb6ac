import { dropToken, findCustomer, goTo } from "../../../lib/shop";

/** A page cannot drop a cookie, a route can. One that still works stays: a link on another site must sign nobody out. */
export async function GET() {
  if (await findCustomer()) return goTo("/account");
  await dropToken();
  return goTo("/sign-in");
}
