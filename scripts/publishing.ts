import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** Facts about the project that every published package repeats. The package.json of the root has them, and no other file. */
const root = fileURLToPath(new URL("..", import.meta.url));
const { homepage, bugs, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** `directory`: where the package's sources are in the repository. */
export const projectMetadata = (directory: string) => ({
  homepage,
  bugs: { url: bugs },
  repository: { ...repository, directory },
});

const repositoryUrl: string = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");

/** Names under .example belong to nobody (RFC 2606): the project has not been given an address yet. */
export const isRepositoryKnown = !new URL(repositoryUrl).hostname.endsWith(".example");

/**
 * The page as a package carries it: relative links lead to the same files in the repository, as they were at this version. Blocks of code
 * stay as they are. A link to a file that is not there ends the build.
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
