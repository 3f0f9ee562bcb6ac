import { dropToken, findToken, goTo, isFromHere, refuse, shop } from "../../lib/shop";

export async function POST(request: Request) {
  if (!isFromHere(request)) return refuse();
  const token = await findToken();
  await dropToken();
  try {
    if (token) await shop.customer(token).signOut();
  } catch (error) {
    // The shop signs out anyway. The token works until it expires.
    console.error("The token could not be revoked:", error);
  }
  return goTo("/");
}
