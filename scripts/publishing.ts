import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's addresses, which every published package repeats. Only the package.json of the root contains them. */
const root = fileURLToPath(new URL("..", import.meta.url));
const { homepage, bugs, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** `directory` is the folder of the package's sources in the repository. */
export const projectMetadata = (directory: string) => ({
  homepage,
  bugs: { url: bugs },
  repository: { ...repository, directory },
});

const repositoryUrl: string = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");

/** False while the address is a placeholder: names under .example are reserved (RFC 2606). */
export const isRepositoryKnown = !new URL(repositoryUrl).hostname.endsWith(".example");

/**
 * The page for a package: relative links become links to the same files in the repository at this version. Blocks of
 * code are not changed. Throws if a linked file does not exist.
 */
export function withAbsoluteLinks(page: string, version: string): string {
  const linkTo = (isPicture: boolean, target: string): string => {
    const path = posix.join(posix.dirname(page), target);
    const form = isPicture ? "raw" : statSync(join(root, path)).isDirectory() ? "tree" : "blob";
    return `${repositoryUrl}/${form}/v${version}/${path}`;
  };
  return readFileSync(join(root, page), "utf8").replaceAll(
    /^```[\s\S]*?^```$|(!?)\[((?:[^\]\\]|\\.)*)\]\((?!#|[a-z]+:)([^)#\s]+)(#[\w-]+)?\)/gm,
    (whole, mark, words, target, anchor = "") =>
      target === undefined ? whole : `${mark}[${words}](${linkTo(mark === "!", target)}${anchor})`,
  );
}
