/** Markup. `html` has escaped its values. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Printable = Html | string | number | boolean | null | undefined | readonly Printable[];

/** Escapes each value, joins arrays, and takes over markup as it is. Null, undefined and booleans print nothing. */
export const html = (strings: TemplateStringsArray, ...values: Printable[]): Html =>
  new Html(String.raw({ raw: strings }, ...values.map(print)));

/** Text that is markup already. Nothing of a request or of a shop may get here. */
export const raw = (text: string): Html => new Html(text);

function print(value: Printable): string {
  if (value instanceof Html) return value.toString();
  if (value === null || value === undefined || typeof value === "boolean") return "";
  if (typeof value === "object") return value.map(print).join("");
  return String(value).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text between backticks in the service's own words becomes `<code>`. */
export const inWords = (text: string): Html[] =>
  text.split("`").map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

/** The same for a text that is in English on a page of any language. */
export const english = (text: string): Html => html`<span lang="en">${inWords(text)}</span>`;
