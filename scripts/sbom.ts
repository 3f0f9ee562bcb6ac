import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The bill of materials of a packed package in CycloneDX 1.5: each library that is needed at run time or compiled in,
 * with the version of the lock file. Without a time and a serial number the same commit gives the same bytes; `npm
 * sbom` writes both, and refuses a root package without a version.
 */
type Locked = {
  name?: string;
  version: string;
  license?: string;
  integrity?: string;
  link?: boolean;
  resolved?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};
type Manifest = Pick<Locked, "dependencies" | "optionalDependencies"> & {
  name: string;
  version: string;
  description: string;
  license: string;
};
/** The key of a package in the lock file, such as node_modules/pg. */
type LockPath = string;

const root = fileURLToPath(new URL("..", import.meta.url));
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** Vite compiles the devDependencies of this package into the console's files. */
const CONSOLE = "packages/console";

export function billOfMaterials(tarball: string): object {
  const lock: Record<LockPath, Locked> = readJson("package-lock.json").packages;
  const manifest: Manifest = JSON.parse(
    execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" }),
  );
  const needs = new Map<LockPath, LockPath[]>();
  const required = new Set<LockPath>();
  const find = (from: LockPath, name: string): LockPath => {
    const path = pathsFrom(from, name).find((one) => lock[one]);
    if (path === undefined) throw new Error(`package-lock.json has no ${name} for ${from || "the root"}`);
    const { link, resolved = "" } = lock[path] as Locked;
    return link ? resolved : path;
  };
  const walk = (path: LockPath, isRequired: boolean): LockPath => {
    if (needs.has(path) && (!isRequired || required.has(path))) return path;
    if (isRequired) required.add(path);
    const { always, maybe } = needsOf(path, lock[path] as Locked);
    needs.set(path, [...new Set([...always, ...maybe].map((name) => find(path, name)))]);
    for (const name of always) walk(find(path, name), isRequired);
    for (const name of maybe) walk(find(path, name), false);
    return path;
  };
  const { always, maybe } = needsOf("", manifest);
  const first = [
    ...always.map((name) => walk(find("", name), true)),
    ...maybe.map((name) => walk(find("", name), false)),
  ];
  const refOf = (path: LockPath) => purlOf(lock[path] as Locked, path);
  const requiredRefs = new Set([...required].map(refOf));
  const self = purlOf(manifest, "");
  const component = (path: LockPath) => {
    const { license, integrity } = lock[path] as Locked;
    return {
      type: "library",
      "bom-ref": refOf(path),
      name: nameOf(lock[path] as Locked, path),
      version: (lock[path] as Locked).version,
      scope: requiredRefs.has(refOf(path)) ? "required" : "optional",
      ...(integrity && { hashes: integrity.split(" ").map(toHash) }),
      ...(license && {
        licenses: [/ /.test(license) ? { expression: license } : { license: { id: license } }],
      }),
      purl: refOf(path),
    };
  };
  const paths = [...needs.keys()].sort((a, b) => compare(refOf(a), refOf(b)));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        type: manifest.name === "latchkey" ? "application" : "library",
        "bom-ref": self,
        name: manifest.name,
        version: manifest.version,
        description: manifest.description,
        licenses: [{ license: { id: manifest.license } }],
        purl: self,
      },
    },
    components: uniqueBy(paths.map(component), ({ purl }) => purl),
    dependencies: [
      { ref: self, dependsOn: first.map(refOf).sort(compare) },
      ...uniqueBy(
        paths.map((path) => ({
          ref: refOf(path),
          dependsOn: (needs.get(path) ?? []).map(refOf).sort(compare),
        })),
        ({ ref }) => ref,
      ),
    ],
  };
}

/** Sorts by code points, which does not depend on the locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function needsOf(path: LockPath, { dependencies = {}, optionalDependencies = {} }: Partial<Locked>) {
  const maybe = Object.keys(optionalDependencies);
  const compiled = path === CONSOLE ? Object.keys(readJson(`${CONSOLE}/package.json`).devDependencies) : [];
  return {
    always: [...Object.keys(dependencies), ...compiled].filter((name) => !maybe.includes(name)),
    maybe,
  };
}

/**
 * The folders in which Node looks for a package: the node_modules of the importing package, then of each folder above.
 */
function pathsFrom(from: LockPath, name: string): LockPath[] {
  const cut = from.lastIndexOf("/node_modules/");
  const above = from === "" ? [] : pathsFrom(cut < 0 ? "" : from.slice(0, cut), name);
  return [`${from === "" ? "" : `${from}/`}node_modules/${name}`, ...above];
}

const nameOf = ({ name }: { name?: string }, path: LockPath): string =>
  name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

const purlOf = (locked: { name?: string; version: string }, path: LockPath): string =>
  `pkg:npm/${nameOf(locked, path).replace("@", "%40")}@${locked.version}`;

const toHash = (integrity: string) => {
  const [algorithm = "", digest = ""] = integrity.split(/-(.*)/s);
  return {
    alg: algorithm.toUpperCase().replace("SHA", "SHA-"),
    content: Buffer.from(digest, "base64").toString("hex"),
  };
};

const uniqueBy = <T>(all: readonly T[], keyOf: (one: T) => string): T[] => [
  ...new Map(all.map((one) => [keyOf(one), one])).values(),
];
