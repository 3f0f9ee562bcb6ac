import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { consoleUrlOf, NO_CONSOLE } from "../contract/console.ts";
import { Problem } from "../contract/problem.ts";
import { ownFilesOnly } from "./headers.ts";
import { type HttpAnswer, headerOf, type Received } from "./message.ts";
import { createPaths } from "./paths.ts";
import type { ServicePage } from "./serve.ts";

/**
 * The console at /console/: the files of its build (packages/console/build.ts), read once and kept in memory. A path is
 * looked up in the build's list as it was sent. No path is joined to a folder, so none leads out of it.
 */
const MEDIA_TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Names of files in assets/ contain a hash of the content, so browsers can cache them for ever. */
const cacheControlOf = (file: string): string =>
  file.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";

type Listing = { screens: string[]; files: string[] };
type Served = { headers: Record<string, string>; plain: Buffer<ArrayBuffer>; zipped: Buffer<ArrayBuffer> };

const compress = promisify(gzip);
const resolve = (file: string) => new URL(import.meta.resolve(`@latchkey/console/dist/${file}`));

type FoundPage = { status: 200 | 404; served: Served };

/** Finds what the service sends for a path. Undefined: the path of a file that is not in the build. */
async function readFiles(): Promise<(path: string) => FoundPage | undefined> {
  const { screens, files }: Listing = JSON.parse(await readFile(resolve("console.json"), "utf8"));
  const paths = createPaths<Served>();
  let page: Served | undefined;
  for (const file of files) {
    const plain = await readFile(resolve(file));
    const served = {
      headers: {
        "Content-Type": MEDIA_TYPES[extname(file)] ?? "application/octet-stream",
        "Cache-Control": cacheControlOf(file),
        "Content-Security-Policy": ownFilesOnly("'self' data:"),
        // A test sign-on opens in a window of its own, which continues at the identity provider.
        "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
        Vary: "Accept-Encoding",
      },
      plain,
      zipped: await compress(plain, { level: 9 }),
    };
    paths.add(`/console/${file}`, served);
    if (file !== "index.html") continue;
    page = served;
    for (const screen of screens)
      paths.add(`/console${screen === "/" ? "" : screen.replaceAll(/:(\w+)/g, "{$1}")}`, served);
  }
  return (path) => {
    const found = paths.find(path);
    if (found && Object.values(found.parameters).every(isId)) return { status: 200, served: found.value };
    // Any other path gets the page too, which says that the screen does not exist and where to go.
    return page && extname(path) === "" ? { status: 404, served: page } : undefined;
  };
}

/** The console shows an id of another form as a screen that does not exist (packages/console/src/screens.ts). */
const isId = (text: string): boolean => /^[\w-]+$/.test(text);

let reading: ReturnType<typeof readFiles> | undefined;

export const consolePages = (publicUrl: string): ServicePage => ({
  path: "/console",
  andBelow: true,
  async respond(received, path): Promise<HttpAnswer> {
    if (!consoleUrlOf(publicUrl)) throw new Problem("route_not_found", { detail: NO_CONSOLE });
    reading ??= readFiles();
    const find = await reading.catch((cause) => {
      reading = undefined;
      throw new Problem("route_not_found", {
        detail: "The console was not built. Run `npm ci`, or `npm run build -w packages/console`.",
        cause,
      });
    });
    const found = find(path);
    if (!found) throw new Problem("route_not_found");
    const { status, served } = found;
    const { headers, plain, zipped } = served;
    return takesGzip(received)
      ? { status, headers: { ...headers, "Content-Encoding": "gzip" }, body: zipped }
      : { status, headers: { ...headers }, body: plain };
  },
});

/** Accept-Encoding (RFC 9110, section 12.5.3), as browsers write it. Other spellings get an uncompressed answer. */
const takesGzip = (received: Received): boolean =>
  /(^|[\s,])gzip(\s*,|\s*$)/.test(headerOf(received, "accept-encoding") ?? "");
