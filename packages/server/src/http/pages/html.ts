import { html } from "hono/html";

/** Markup whose values have been escaped. */
export type Html = ReturnType<typeof html>;

/** What stands between backticks in our own words is set apart. */
export const inWords = (text: string): Html[] =>
  text.split("`").map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
