import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { extname } from "node:path";

/**
 * The pages' modules and the SDK's, as a browser takes them: import specifiers turned into paths, and types stripped, unless
 * that was done when the package was built. Only what the entries lead to is there, so nothing meant for servers is handed out.
 */
type Home = { folder: URL; prefix: string };

const SDK = "@latchkey/sdk";
/** `.ts` in the repository, `.js` in the package. */
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

/** Imports and re-exports, or the end of their names, stand at the beginning of a line; what looks like one inside a comment does not. */
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

/** Node calls it experimental, on the first use and on standard error, where whoever tries the shop could only wonder. */
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
