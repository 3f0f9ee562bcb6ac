import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The bill of materials of a packed package, as CycloneDX 1.5: each library that its code needs at run time or was made of, in the version of
 * the lock file. It has neither a time nor a serial number, so the same commit gives the same bytes. `npm sbom` has both, and it refuses a
 * repository whose root has no version.
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
/** The place of a package in the lock file, such as node_modules/pg. */
type Place = string;

const root = fileURLToPath(new URL("..", import.meta.url));
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

/** Vite puts these into the files of the console. */
const CONSOLE = "packages/console";

export function billOfMaterials(tarball: string): object {
  const lock: Record<Place, Locked> = readJson("package-lock.json").packages;
  const manifest: Manifest = JSON.parse(
    execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" }),
  );
  const needs = new Map<Place, Place[]>();
  const required = new Set<Place>();
  const find = (from: Place, name: string): Place => {
    const place = placesFrom(from, name).find((one) => lock[one]);
    if (place === undefined) throw new Error(`package-lock.json has no ${name} for ${from || "the root"}`);
    const { link, resolved = "" } = lock[place] as Locked;
    return link ? resolved : place;
  };
  const walk = (place: Place, isRequired: boolean): Place => {
    if (needs.has(place) && (!isRequired || required.has(place))) return place;
    if (isRequired) required.add(place);
    const { always, maybe } = needsOf(place, lock[place] as Locked);
    needs.set(place, [...new Set([...always, ...maybe].map((name) => find(place, name)))]);
    for (const name of always) walk(find(place, name), isRequired);
    for (const name of maybe) walk(find(place, name), false);
    return place;
  };
  const { always, maybe } = needsOf("", manifest);
  const first = [
    ...always.map((name) => walk(find("", name), true)),
    ...maybe.map((name) => walk(find("", name), false)),
  ];
  const refOf = (place: Place) => purlOf(lock[place] as Locked, place);
  const requiredRefs = new Set([...required].map(refOf));
  const self = purlOf(manifest, "");
  const component = (place: Place) => {
    const { license, integrity } = lock[place] as Locked;
    return {
      type: "library",
      "bom-ref": refOf(place),
      name: nameOf(lock[place] as Locked, place),
      version: (lock[place] as Locked).version,
      scope: requiredRefs.has(refOf(place)) ? "required" : "optional",
      ...(integrity && { hashes: integrity.split(" ").map(toHash) }),
      ...(license && {
        licenses: [/ /.test(license) ? { expression: license } : { license: { id: license } }],
      }),
      purl: refOf(place),
    };
  };
  const places = [...needs.keys()].sort((a, b) => compare(refOf(a), refOf(b)));
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
    components: uniqueBy(places.map(component), ({ purl }) => purl),
    dependencies: [
      { ref: self, dependsOn: first.map(refOf).sort(compare) },
      ...uniqueBy(
        places.map((place) => ({
          ref: refOf(place),
          dependsOn: (needs.get(place) ?? []).map(refOf).sort(compare),
        })),
        ({ ref }) => ref,
      ),
    ],
  };
}

/** The order of the code points, which depends on no language of a machine. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function needsOf(place: Place, { dependencies = {}, optionalDependencies = {} }: Partial<Locked>) {
  const maybe = Object.keys(optionalDependencies);
  const compiled = place === CONSOLE ? Object.keys(readJson(`${CONSOLE}/package.json`).devDependencies) : [];
  return {
    always: [...Object.keys(dependencies), ...compiled].filter((name) => !maybe.includes(name)),
    maybe,
  };
}

/** Where Node looks for a package: beside the one that needs it, then in each folder above. */
function placesFrom(from: Place, name: string): Place[] {
  const cut = from.lastIndexOf("/node_modules/");
  const above = from === "" ? [] : placesFrom(cut < 0 ? "" : from.slice(0, cut), name);
  return [`${from === "" ? "" : `${from}/`}node_modules/${name}`, ...above];
}

const nameOf = ({ name }: { name?: string }, place: Place): string =>
  name ?? place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);

const purlOf = (locked: { name?: string; version: string }, place: Place): string =>
  `pkg:npm/${nameOf(locked, place).replace("@", "%40")}@${locked.version}`;

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
