import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { documentation } from "../../packages/console/build.ts";
import { HELP } from "../../packages/console/src/help/help.ts";
import { variables } from "../../packages/server/src/config.ts";
import { problems } from "../../packages/server/src/contract/problems.ts";
import { signOnReasons } from "../../packages/server/src/contract/sign-on-reasons.ts";
import { withAbsoluteLinks } from "../../scripts/publishing.ts";

/**
 * The documentation as a whole: every page is linked, every link has a target, and every quotation matches the program.
 */

const root = new URL("../..", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const under = (folder: string) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" }).map((path) =>
    posix.join(folder, path),
  );
const pages = under("docs").filter((path) => path.endsWith(".md"));
const papers = [
  ...pages,
  ...[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "packages/console/README.md",
    "packages/demo/README.md",
    "packages/sdk/README.md",
    "packages/server/README.md",
    "examples/README.md",
  ],
];

type Link = { target: string; anchor: string | undefined };

/** Links into the repository, except those in code blocks. */
function linksOf(page: string): Link[] {
  const text = read(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  return [...text.matchAll(/\]\(([^)#\s]*)(?:#([\w-]+))?\)/g)]
    .filter(([, target = ""]) => !/^[a-z]+:/.test(target))
    .map(([, target = "", anchor]) => ({
      target:
        target === "" ? page : posix.normalize(posix.join(posix.dirname(page), target)).replace(/\/$/, ""),
      anchor,
    }));
}

/** GitHub's rule for the anchors of headings. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );

const isFolder = (path: string) => statSync(new URL(path, root)).isDirectory();

test.each(papers)("every link of %s has a target", (page) => {
  for (const { target, anchor } of linksOf(page)) {
    expect(existsSync(new URL(target, root)), `${page} links to ${target}`).toBe(true);
    if (anchor !== undefined && target.endsWith(".md"))
      expect(anchorsOf(target), `${page} links into ${target}`).toContain(anchor);
  }
});

test.each(Object.entries(HELP))("the help of the console's screen %s has a target", (_, help) => {
  const [page = "", anchor] = help.split("#");
  expect(papers).toContain(page);
  if (anchor !== undefined) expect(anchorsOf(page)).toContain(anchor);
});

test("the console links to its documentation as the published pages do", () => {
  const { version } = JSON.parse(read("packages/server/package.json"));
  expect(withAbsoluteLinks("packages/sdk/README.md", version)).toContain(`](${documentation()}docs/`);
});

test("every page is linked from docs/README.md, which the README links", () => {
  expect(linksOf("README.md").map(({ target }) => target)).toContain("docs/README.md");
  const found = new Set(["docs/README.md"]);
  for (const page of found)
    for (const { target } of linksOf(page)) {
      if (isFolder(target))
        for (const path of pages.filter((one) => one.startsWith(`${target}/`))) found.add(path);
      else if (pages.includes(target)) found.add(target);
    }
  expect(pages.filter((page) => !found.has(page))).toEqual([]);
});

test("a status before codes is the status of each of them", () => {
  const named = papers.flatMap((page) =>
    [...read(page).matchAll(/\b([45]\d\d) ((?:`\w+`(?:, )?)+)/g)].flatMap(([, status, codes = ""]) =>
      [...codes.matchAll(/\w+/g)].map(([code]) => ({ page, status: Number(status), code })),
    ),
  );
  const known = new Map(Object.entries(problems).map(([code, { status }]) => [code, status as number]));
  const ours = named.filter(({ code }) => known.has(code));
  expect(ours.length).toBeGreaterThan(20);
  expect(ours.filter(({ code, status }) => known.get(code) !== status)).toEqual([]);
});

describe("docs/troubleshooting.md", () => {
  const page = read("docs/troubleshooting.md");
  const sources = [
    ...under("packages/server/src"),
    ...under("packages/sdk/src"),
    "examples/express/sign-on.js",
  ]
    .filter((path) => /\.(ts|js)$/.test(path) && !path.includes(".test."))
    .map(read)
    .join("\n");

  test("quotes the program's messages exactly", () => {
    const quoted = [...page.matchAll(/“([^”]+)”/g)].map(([, text = ""]) => text);
    // Names that belong to other programs.
    const others = ["quotation marks", "Invalid redirect URI", "Unknown client"];
    const pieces = quoted.filter((text) => !others.includes(text)).flatMap((text) => text.split("…"));
    expect(pieces.length).toBeGreaterThan(40);
    for (const piece of pieces.map((text) => text.trim())) expect(sources.includes(piece), piece).toBe(true);
  });

  test("names existing codes, reasons, variables and log lines", () => {
    const codes = read("packages/sdk/src/error-codes.ts");
    const events = [...sources.matchAll(/event: "(\w+)"/g)].map(([, name]) => name);
    const known = new Set([
      ...Object.keys(problems),
      ...Object.keys(signOnReasons),
      ...events,
      "request_id",
      "client_id",
      "client_credentials",
    ]);
    const named = [...page.matchAll(/`([a-z]+(?:_[a-z]+)+(?:\.\w+)?)`/g)].map(([, code = ""]) => code);
    expect(named.length).toBeGreaterThan(40);
    for (const code of named) expect(known.has(code) || codes.includes(`"${code}"`), code).toBe(true);
    const names = variables.map(({ name }) => name);
    for (const [, name] of page.matchAll(/`(LATCHKEY_\w+)`/g)) expect(names).toContain(name);
  });

  test("names existing commands and screens", () => {
    const commands = read("docs/cli.md");
    for (const [, command] of page.matchAll(/npx latchkey ([a-z-]+(?: (?:list|show|allow|create))?)/g))
      expect(commands).toContain(`\n## ${command}\n`);
    const screens = read("docs/guides/console.md");
    for (const [, screen] of page.matchAll(/\*\*([A-Z]\w+)\*\*/g))
      expect(screens).toMatch(new RegExp(`^\\| .*${screen}`, "m"));
  });
});
