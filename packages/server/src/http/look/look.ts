import { readFileSync } from "node:fs";

/**
 * The look that the console, the pages for shoppers and the API reference share: tokens.css. The console's build takes
 * the file as it is; a page of this service gets only the tokens that its own style names.
 */
const TOKENS = withoutComments(readFileSync(new URL("tokens.css", import.meta.url), "utf8"))
  .split(/\s/)
  .filter(Boolean)
  .join(" ");

function withoutComments(css: string): string {
  const [first = "", ...others] = css.split("/*");
  return [first, ...others.map((part) => part.slice(part.indexOf("*/") + 2))].join("");
}

/** A style sheet with the tokens that it names before it. */
export function withTokens(style: string): string {
  const tokens = TOKENS.split(/(?<=;)/).map((text) => {
    const at = text.lastIndexOf(" --");
    const name = text.slice(at + 1, text.indexOf(":", at));
    return at < 0 || style.includes(`var(${name})`) ? text : text.slice(0, at);
  });
  return `${tokens.join("")}\n${style}`;
}

const [LIGHT = "", DARK = ""] = TOKENS.split("prefers-color-scheme: dark");

/** The token of a colour, as `#rrggbb`. */
export function colourOf(scheme: "light" | "dark", name: string): string {
  const tokens = scheme === "light" ? LIGHT : DARK;
  const found = tokens.split(`--${name}: `)[1]?.split(";")[0] ?? "";
  if (!/^#[0-9a-f]{6}$/.test(found)) throw new Error(`tokens.css has no ${scheme} colour ${name}`);
  return found;
}
