import { readFileSync } from "node:fs";

/**
 * The look that the console, the pages for shoppers and the API reference share: tokens.css. The console's build takes
 * the file as it is; a page of this service gets only the tokens that its own style names.
 */
const TOKENS = readFileSync(new URL("tokens.css", import.meta.url), "utf8")
  .replaceAll(/\/\*.*?\*\//gs, "")
  .replaceAll(/\s+/g, " ")
  .trim();

/** A style sheet with the tokens that it names before it. */
export const withTokens = (style: string): string => {
  const tokens = TOKENS.replaceAll(/ (--[\w-]+): [^;]+;/g, (token, name) =>
    style.includes(`var(${name})`) ? token : "",
  );
  return `${tokens}\n${style}`;
};

const [LIGHT = "", DARK = ""] = TOKENS.split("prefers-color-scheme: dark");

/** The token of a colour, as `#rrggbb`. */
export function colourOf(scheme: "light" | "dark", name: string): string {
  const found = new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(scheme === "light" ? LIGHT : DARK)?.[1];
  if (!found) throw new Error(`tokens.css has no ${scheme} colour ${name}`);
  return found;
}
