import { dropToken, findToken, goTo, isFromHere, refuse, shop } from "../../lib/shop";

export async function POST(request: Request) {
  if (!isFromHere(request)) return refuse();
  const token = await findToken();
  await dropToken();
  try {
    if (token) await shop.customer(token).signOut();
  } catch (error) {
    // Signed out here all the same; the token itself ends at its own time.
    console.error("The token could not be revoked:", error);
  }
  return goTo("/");
}
