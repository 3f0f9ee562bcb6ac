import { readFile } from "node:fs/promises";
import { readBrowserModules } from "./browser-modules.ts";
import { priceTag, productCard, products } from "./products.ts";

type Served = { type: string; body: string };

/** Every served file by its path. The files are read once; any other path is 404. */
export type Contents = { files: ReadonlyMap<string, Served>; notFound: Served };

/** The content of /config.json. Nothing in it is secret. */
export type PageConfig = { apiUrl: string; clientId: string; knobsUrl?: string };

const HTML = "text/html; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
const SVG = "image/svg+xml";

const PAGES = {
  "/": { file: "shop", title: "Alder &amp; Pine: things made of wood" },
  "/sign-in": { file: "sign-in", title: "Sign in · Alder &amp; Pine" },
  "/signed-in": { file: "signed-in", title: "Signing in · Alder &amp; Pine" },
  "/account": { file: "account", title: "Your account · Alder &amp; Pine" },
  "/webhooks": { file: "webhooks", title: "Webhooks · Alder &amp; Pine" },
} as const;
const NOT_FOUND = { file: "not-found", title: "Not here · Alder &amp; Pine" } as const;

const STYLES = ["ground", "layout", "shop", "forms", "account", "wire", "webhooks", "motion"];

export async function readContents(config: PageConfig): Promise<Contents> {
  const entries = [...Object.values(PAGES), NOT_FOUND];
  const modules = await readBrowserModules(entries.map(({ file }) => file));
  const page = await pageMaker();
  const files = new Map<string, Served>();
  for (const [path, body] of modules) files.set(path, { type: JAVASCRIPT, body });
  for (const [path, entry] of Object.entries(PAGES)) files.set(path, await page(entry));
  for (const name of STYLES)
    files.set(`/styles/${name}.css`, { type: CSS, body: await read(`styles/${name}.css`) });
  files.set("/icon.svg", { type: SVG, body: await read("pictures/icon.svg") });
  files.set("/config.json", { type: JSON_TYPE, body: JSON.stringify(config) });
  return { files, notFound: await page(NOT_FOUND) };
}

/** Inserts a page's own part into the frame of all pages. */
async function pageMaker(): Promise<(entry: { file: string; title: string }) => Promise<Served>> {
  const frame = await read("pages/frame/frame.html");
  const styles = STYLES.map((name) => `<link rel="stylesheet" href="/styles/${name}.css">`).join("\n    ");
  const slots: Record<string, string> = { styles };
  for (const product of products) {
    const picture = await read(`pictures/${product.id}.svg`);
    slots[`picture-${product.id}`] = picture;
    slots[`price-${product.id}`] = priceTag(product);
    slots[`card-${product.id}`] = productCard(product, picture);
  }
  return async ({ file, title }) => {
    const main = fill(await read(`pages/${file}/${file}.html`), slots);
    return { type: HTML, body: fill(frame, { ...slots, main, title, script: `/pages/${file}/${file}.js` }) };
  };
}

/** Replaces `{{name}}` by its slot. An unknown name stops the start. */
const fill = (template: string, slots: Record<string, string>): string =>
  template.replaceAll(/\{\{([a-z-]+)\}\}/g, (_, name: string) => {
    const text = slots[name];
    if (text === undefined)
      throw new Error(`a page of the storefront asks for {{${name}}}, which is not there`);
    return text;
  });

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), "utf8");
