import { consoleUrlOf } from "../../contract/console.ts";
import { readerOf } from "../exchange.ts";
import { type HttpAnswer, headerOf, type Received } from "../message.ts";
import type { ServicePage } from "../serve.ts";
import { framed, type PageReader, pageHeaders } from "./frame.ts";
import { html } from "./html.ts";
import { byWeight } from "./language.ts";
import { pageWords } from "./words/all.ts";

/** The answer at `/`: a page for a browser, JSON for a program. */
export const frontPage = (publicUrl: string, { hasHealth }: { hasHealth: boolean }): ServicePage => {
  const consoleUrl = consoleUrlOf(publicUrl);
  const links = {
    ...(consoleUrl && { console: consoleUrl }),
    reference: `${publicUrl}/docs`,
    openapi: `${publicUrl}/openapi.json`,
    // Absent when health is served on the operator's own port.
    ...(hasHealth && { health: `${publicUrl}/health/ready` }),
  };
  return {
    path: "/",
    async respond(received): Promise<HttpAnswer> {
      const vary = { Vary: "Accept, Accept-Language" };
      if (!wantsPage(received)) {
        const body = JSON.stringify({ data: { type: "service", name: "Latchkey" }, links });
        return { status: 200, headers: { "Content-Type": "application/json", ...vary }, body };
      }
      const reader = readerOf(received);
      return { status: 200, headers: { ...pageHeaders(reader), ...vary }, body: render(reader, links) };
    },
  };
};

/** A browser's `Accept` prefers HTML. A program without `Accept`, or with any type first, gets JSON. */
const wantsPage = (received: Received): boolean =>
  byWeight(headerOf(received, "accept") ?? "").find((type) =>
    /^(text\/html|application\/json|\*\/\*)$/i.test(type),
  ) === "text/html";

function render(reader: PageReader, links: Partial<Record<(typeof LINKS)[number], string>>): string {
  const { text, lost, ...words } = pageWords[reader.language].front;
  const items = LINKS.map((link) => {
    const { name, text: hint } = words[link];
    return (
      links[link] && html`<li><a href="${links[link]}">${name}<span class="quiet">${hint}</span></a></li>`
    );
  });
  return framed(reader, {
    title: "Latchkey",
    body: html`<h1>Latchkey</h1><p>${text}</p><ul>${items}</ul><p class="quiet reference">${lost}</p>`,
  });
}

const LINKS = ["console", "reference", "openapi", "health"] as const;
