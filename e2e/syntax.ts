import { readdirSync, readFileSync } from "node:fs";
import { type ESTree, parseSync, Visitor, type VisitorObject } from "vite";

/** The sources as syntax trees, for rules that need more than their text. */

const root = new URL("..", import.meta.url);

/** The source files of all packages, without their tests. */
export const sourceFiles: string[] = readdirSync(new URL("packages/", root)).flatMap((name) =>
  readdirSync(new URL(`packages/${name}/src/`, root), { recursive: true })
    .map((path) => `packages/${name}/src/${path}`)
    .filter((path) => /(?<!\.test|\.d)\.tsx?$/.test(path)),
);

/** Calls a visitor with every node of a file, and with the line of a node. */
export function visit(path: string, visitor: (lineOf: (node: ESTree.Node) => string) => VisitorObject): void {
  const text = readFileSync(new URL(path, root), "utf8");
  const { program, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const lineOf = ({ start }: ESTree.Node) => `${path}:${text.slice(0, start).split("\n").length}`;
  new Visitor(visitor(lineOf)).visit(program);
}
