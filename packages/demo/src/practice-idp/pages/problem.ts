import { html, renderPage } from "./page.ts";

/** A page for an error. `code` is the error's name, to look up. */
export const problemPage = (title: string, detail: string, code?: string): string =>
  renderPage({
    title,
    width: "narrow",
    link: { href: "/knobs", text: "Knobs" },
    body: html`<section class="card stack"><h1>${title}</h1>${detail !== "" && html`<p>${detail}</p>`}${
      code !== undefined && html`<p class="quiet small"><code>${code}</code></p>`
    }</section>`,
  });
