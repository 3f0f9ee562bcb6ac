import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { extname } from "node:path";

/**
 * Prepares the pages' modules and the SDK's for browsers: turns import specifiers into paths, and strips
 * types, unless the built package has done so. Serves only modules that the entries import, so no server
 * module is public.
 */
type Home = { folder: URL; prefix: string };

const SDK = "@latchkey/sdk";
/** `.ts` in the repository, `.js` in the built package. */
const SUFFIX = extname(import.meta.url);

export async function readBrowserModules(entries: readonly string[]): Promise<Map<string, string>> {
  const sdkEntry = new URL(import.meta.resolve(SDK));
  const homes: Home[] = [
    { folder: new URL("pages/", import.meta.url), prefix: "/pages/" },
    { folder: new URL(".", sdkEntry), prefix: "/sdk/" },
  ];
  const modules = new Map<string, string>();
  const waiting = entries.map((entry) => new URL(`pages/${entry}/${entry}${SUFFIX}`, import.meta.url));
  for (let source = waiting.pop(); source; source = waiting.pop()) {
    const path = pathOf(source, homes);
    if (modules.has(path)) continue;
    const { code, imports } = toBrowser(await readFile(source, "utf8"), source, sdkEntry, homes);
    modules.set(path, code);
    waiting.push(...imports);
  }
  return modules;
}

/**
 * Matches an import or re-export, or the end of its list of names, at the beginning of a line, so not inside
 * a comment.
 */
const SPECIFIER = /^((?:import|export|\}) (?:[\w{}*, ]*from )?)"([^"]+)"/gm;

function toBrowser(text: string, source: URL, sdkEntry: URL, homes: Home[]) {
  const imports: URL[] = [];
  const code = (SUFFIX === ".ts" ? withoutTypes(text) : text).replaceAll(
    SPECIFIER,
    (_, before: string, specifier: string) => {
      const target = specifier === SDK ? sdkEntry : relativeTo(source, specifier);
      imports.push(target);
      return `${before}"${pathOf(target, homes)}"`;
    },
  );
  return { code, imports };
}

/** Strips types, and suppresses Node's warning on standard error that this is experimental. */
function withoutTypes(typescript: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(typescript);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function relativeTo(source: URL, specifier: string): URL {
  if (!/^\.{1,2}\//.test(specifier) || !specifier.endsWith(SUFFIX))
    throw new Error(`${source.pathname} imports ${specifier}, which no browser can load`);
  return new URL(specifier, source);
}

function pathOf(source: URL, homes: Home[]): string {
  const home = homes.find(({ folder }) => source.href.startsWith(folder.href));
  if (!home) throw new Error(`${source.pathname} is neither the storefront's nor the SDK's`);
  return `${home.prefix}${source.href.slice(home.folder.href.length).replace(/\.ts$/, ".js")}`;
}
