import { consoleUrlOf } from "../../contract/console.ts";
import { type Answer, headerOf, type Received } from "../message.ts";
import type { Page } from "../serve.ts";
import { targetOf } from "../target.ts";
import { framed, pageHeaders } from "./frame.ts";
import { html } from "./html.ts";
import { byWeight, type Language, languageOf, uiLocalesOf } from "./language.ts";
import { pageWords } from "./words/all.ts";

/** Who comes to the address alone: a person who wonders what this is, or a program that looks for the way. */
export const frontPage = (publicUrl: string, { hasHealth }: { hasHealth: boolean }): Page => {
  const consoleUrl = consoleUrlOf(publicUrl);
  const links = {
    ...(consoleUrl && { console: consoleUrl }),
    reference: `${publicUrl}/docs`,
    openapi: `${publicUrl}/openapi.json`,
    // Elsewhere, where operators have a port of their own.
    ...(hasHealth && { health: `${publicUrl}/health/ready` }),
  };
  return {
    path: "/",
    async respond(received): Promise<Answer> {
      const vary = { Vary: "Accept, Accept-Language" };
      if (!wantsPage(received)) {
        const body = JSON.stringify({ data: { type: "service", name: "Latchkey" }, links });
        return { status: 200, headers: { "Content-Type": "application/json", ...vary }, body };
      }
      const language = languageOf({
        uiLocales: uiLocalesOf(targetOf(received.target).query),
        acceptLanguage: headerOf(received, "accept-language"),
      });
      const headers = { ...pageHeaders({ language }), ...vary };
      return { status: 200, headers, body: render(language, links) };
    },
  };
};

/** A browser names HTML before anything else; a program that says nothing, or takes everything, gets JSON. */
const wantsPage = (received: Received): boolean =>
  byWeight(headerOf(received, "accept") ?? "").find((type) =>
    /^(text\/html|application\/json|\*\/\*)$/i.test(type),
  ) === "text/html";

function render(language: Language, links: Partial<Record<Way, string>>): string {
  const { text, lost, ...ways } = pageWords[language].front;
  const items = WAYS.flatMap((way) => {
    const href = links[way];
    if (href === undefined) return [];
    return [
      html`<li><a href="${href}">${ways[way].name}<span class="quiet">${ways[way].text}</span></a></li>`,
    ];
  });
  return framed(
    { language },
    {
      title: "Latchkey",
      body: html`<h1>Latchkey</h1><p>${text}</p><ul>${items}</ul><p class="quiet reference">${lost}</p>`,
    },
  );
}

const WAYS = ["console", "reference", "openapi", "health"] as const;
type Way = (typeof WAYS)[number];
