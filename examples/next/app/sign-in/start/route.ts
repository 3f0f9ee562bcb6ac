import { ApiError } from "@latchkey/sdk";
import {
  findPrompt,
  goTo,
  isFromHere,
  leaveNotice,
  redirectUri,
  refuse,
  storefrontOfBrowser,
} from "../../../lib/shop";

export async function POST(request: Request) {
  if (!isFromHere(request)) return refuse();
  const provider = (await request.formData()).get("provider");
  const storefront = await storefrontOfBrowser();
  try {
    const { url } = await storefront.beginSignOn(typeof provider === "string" ? provider : undefined, {
      redirectUri,
      scope: "openid email profile",
      prompt: await findPrompt(),
    });
    return Response.redirect(url, 303);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await leaveNotice(error);
    return goTo("/sign-in");
  }
}
