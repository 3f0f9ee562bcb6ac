import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import type { ESTree } from "vite";
import { describe, expect, test } from "vitest";
import { sourceFiles, visit } from "./syntax.ts";

/** Rules for the layout of the sources: folders, imports, names and lengths. */

const root = new URL("..", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Folders that are catalogues: one kind of thing, one file each. */
const CATALOGUES = [
  "packages/server/src/contract",
  "packages/server/src/lib",
  "packages/server/src/storage/migrations",
];

const importsOf = new Map(
  sourceFiles.map((path) => [
    path,
    [...read(path).matchAll(/(?:from |import\()"(\.[^"]+)"/g)]
      .map(([, target = ""]) => posix.join(posix.dirname(path), target))
      .filter((target) => sourceFiles.includes(target)),
  ]),
);

/** The files that a file reaches over its imports. */
function reachedFrom(start: string): Set<string> {
  const reached = new Set<string>();
  const waiting = [...(importsOf.get(start) ?? [])];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...(importsOf.get(path) ?? []));
  }
  return reached;
}

describe("files", () => {
  test("do not import each other in a circle, imports of types included", () => {
    expect(sourceFiles.filter((path) => reachedFrom(path).has(path))).toEqual([]);
  });

  test("are at most twenty in a folder, tests not counted", () => {
    const folders = Map.groupBy(sourceFiles, (path) => posix.dirname(path));
    const crowded = [...folders].filter(
      ([folder, files]) => files.length > 20 && !CATALOGUES.includes(folder),
    );
    expect(crowded.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
  });

  test("have comments of at most 120 columns", () => {
    const wide = sourceFiles.flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, at) =>
          line.length > 120 && /^\s*(\/\/|\/?\*)/.test(line) ? [`${path}:${at + 1}`] : [],
        ),
    );
    expect(wide).toEqual([]);
  });
});

/** Functions that are tables: a line for each entry, and nothing else. */
const TABLES = new Set(["routes"]);

describe("functions", () => {
  test("have at most 80 lines, tables excepted", () => {
    const long: string[] = [];
    for (const path of sourceFiles) {
      const text = read(path);
      visit(path, (lineOf) => {
        const check = (node: ESTree.Node) => {
          const lines = text.slice(node.start, node.end).split("\n").length;
          const name = /const (\w+)[^=]*= $/.exec(text.slice(0, node.start))?.[1] ?? "";
          if (lines > 80 && !TABLES.has(name)) long.push(`${lineOf(node)} ${lines}`);
        };
        return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
      });
    }
    expect(long).toEqual([]);
  });
});

describe("types", () => {
  /** Names that each file uses for its own: what it depends on, what a request brings. */
  const SHARED = new Set(["Deps", "Body", "Ids", "Options"]);

  test("have a name of their own in the server: one name, one thing", () => {
    const files = new Map<string, Set<string>>();
    for (const path of sourceFiles.filter((file) => file.startsWith("packages/server/")))
      for (const [, name = ""] of read(path).matchAll(/^(?:export )?(?:type|interface|class) (\w+)/gm))
        files.set(name, (files.get(name) ?? new Set()).add(path));
    const twice = [...files].filter(([name, paths]) => paths.size > 1 && !SHARED.has(name));
    expect(twice.map(([name, paths]) => `${name}: ${[...paths].join(", ")}`)).toEqual([]);
  });
});

describe("test files", () => {
  test("have at most 500 lines", () => {
    const folders = ["packages", "e2e"];
    const tests = folders.flatMap((folder) =>
      readdirSync(new URL(`${folder}/`, root), { recursive: true })
        .map((path) => `${folder}/${path}`)
        .filter((path) => /\.test\.tsx?$/.test(path) && !/node_modules|previous-release/.test(path)),
    );
    expect(tests.filter((path) => read(path).trimEnd().split("\n").length > 500)).toEqual([]);
  });
});
