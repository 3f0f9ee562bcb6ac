import type { IncomingMessage, ServerResponse } from "node:http";
import { interact } from "./interaction.ts";
import type { Knobs } from "./knobs.ts";
import type { Provider } from "./oidc-provider.ts";
import { isFromOwnPage } from "./own-request.ts";
import { SHOP_PATH, sendPage } from "./pages/page.ts";
import { problemPage } from "./pages/problem.ts";
import type { People } from "./people.ts";
import { showKnobs, turnKnob } from "./turn-knobs.ts";

type PageParts = {
  origin: string;
  provider: Provider;
  people: People;
  knobs: Knobs;
  keyId: string;
  discoveryUrl: string;
  shopUrl: string | undefined;
};

/** The library answers every other path. */
export const isPagePath = (pathname: string): boolean =>
  ["/", "/knobs", SHOP_PATH].includes(pathname) || pathname.startsWith("/interaction/");

/** Answers the provider's own pages: the sign-in, the knobs and the link to the shop. */
export async function answerPage(
  parts: PageParts,
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
): Promise<void> {
  const { origin, provider, people, knobs, shopUrl } = parts;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead && request.method !== "POST") return void response.writeHead(405, { Allow: "GET, POST" }).end();
  // Under another host name the browser has other cookies, and forms have another origin.
  if (isRead && request.headers.host !== new URL(origin).host)
    return redirect(response, `${origin}${request.url}`);
  if (!isRead && !isFromOwnPage(request, origin)) {
    const detail = "It came from another site. Only this provider’s own pages may change anything here.";
    return sendPage(response, 403, problemPage("This request is refused", detail));
  }
  if (pathname === "/") return redirect(response, "/knobs");
  if (pathname === SHOP_PATH) {
    if (shopUrl !== undefined) return redirect(response, shopUrl);
    return sendPage(response, 404, problemPage("No shop here", "This provider was started without one."));
  }
  if (pathname !== "/knobs") return interact({ provider, people, settings: knobs.get }, request, response);
  return isRead ? showKnobs(parts, request, response) : turnKnob(parts, request, response);
}

const redirect = (response: ServerResponse, location: string): void =>
  void response.writeHead(303, { Location: location, "Cache-Control": "no-store" }).end();
