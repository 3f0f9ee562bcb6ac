import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { folderGiven, packInto } from "./pack.ts";
import { isRepositoryKnown } from "./publishing.ts";
import { billOfMaterials } from "./sbom.ts";

/**
 * Writes the files of a release: the packages, a bill of materials for each package, and SHA256SUMS. `node
 * scripts/release.ts [folder]` empties the folder first; the default is `dist`.
 */
const folder = folderGiven();
rmSync(folder, { recursive: true, force: true });
const tarballs = packInto(folder);
const bills = tarballs.map((tarball) => {
  const path = tarball.replace(/\.tgz$/, ".cdx.json");
  writeFileSync(path, `${JSON.stringify(billOfMaterials(tarball), null, 2)}\n`);
  return path;
});
const files = [...tarballs, ...bills].sort();
const sums = join(folder, "SHA256SUMS");
const line = (path: string) =>
  `${createHash("sha256").update(readFileSync(path)).digest("hex")}  ${basename(path)}\n`;
writeFileSync(sums, files.map(line).join(""));
for (const path of [...files, sums]) console.log(path);
if (!isRepositoryKnown)
  console.error(
    "Before you publish: replace the example addresses `homepage`, `bugs` and `repository` in package.json.",
  );
