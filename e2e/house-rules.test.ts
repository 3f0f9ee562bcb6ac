import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import type { ESTree } from "vite";
import { describe, expect, test } from "vitest";
import { operations } from "../packages/server/src/contract/operations.ts";
import { problems } from "../packages/server/src/contract/problems.ts";
import { routes } from "../packages/server/src/routes.ts";
import { generatedFiles } from "../scripts/generated.ts";
import { visit } from "./syntax.ts";

/** The code base tests itself. */

const root = new URL("..", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
/** Not what git tracks: the tests need nothing but Node. */
const IGNORED = new Set([".git", "node_modules", "data", "coverage", "dist", ".next"]);
const files = walk("");

function walk(folder: string): string[] {
  return readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const path = `${folder}${entry.name}`;
    return entry.isDirectory() ? walk(`${path}/`) : [path];
  });
}

const sources = files.filter(
  (path) => path.startsWith("packages/server/src/") && path.endsWith(".ts") && !path.endsWith(".test.ts"),
);

const consoleSources = files.filter((path) => /^packages\/console\/src\/.*\.tsx?$/.test(path));

/** What each room may import. A room that is not listed may import nothing; imports point down. */
const SLICES = [
  "events",
  "rate-limit",
  "stores",
  "application-keys",
  "access",
  "signing-keys",
  "passwords",
  "realms",
  "egress",
  "openid",
  "profiles",
  "customers",
  "members",
  "sign-on-records",
  "customer-export",
  "sign-on",
  "realm-provider",
  "logout",
  "integrations",
  "gateway",
];
const BASE = ["lib", "contract", "storage"];
const ROOMS: Record<string, string[]> = {
  lib: [],
  contract: ["lib"],
  storage: ["lib"],
  counters: ["lib"],
  http: BASE,
  events: BASE,
  "rate-limit": [...BASE, "counters"],
  egress: ["lib", "contract"],
  "signing-keys": ["lib", "storage"],
  passwords: ["lib", "contract", "counters", "rate-limit"],
  stores: [...BASE, "events", "rate-limit"],
  "application-keys": [...BASE, "events", "rate-limit", "stores"],
  realms: [...BASE, "events", "stores"],
  openid: ["lib", "contract", "egress"],
  profiles: [...BASE, "counters", "events", "rate-limit", "stores", "realms", "egress", "openid"],
  customers: [...BASE, "counters", "events", "rate-limit", "realms", "signing-keys", "passwords"],
  access: [...BASE, "events", "rate-limit", "stores", "application-keys", "customers", "signing-keys"],
  members: [...BASE, "events", "stores", "customers"],
  "sign-on-records": [...BASE, "counters", "events", "rate-limit", "customers"],
  "customer-export": [...BASE, "events", "customers", "sign-on-records"],
  "sign-on": [
    ...BASE,
    "events",
    "stores",
    "realms",
    "openid",
    "profiles",
    "signing-keys",
    "customers",
    "access",
    "members",
    "sign-on-records",
  ],
  "realm-provider": [
    ...BASE,
    "events",
    "realms",
    "profiles",
    "signing-keys",
    "customers",
    "access",
    "sign-on",
  ],
  logout: [
    ...BASE,
    "events",
    "stores",
    "realms",
    "openid",
    "profiles",
    "customers",
    "sign-on-records",
    "sign-on",
  ],
  integrations: [...BASE, "events", "stores", "egress"],
  gateway: ["access", "contract"],
  "create-store": ["lib", "storage", "events", "stores", "application-keys", "realms"],
  "delete-store": ["lib", "storage"],
  restore: [
    ...BASE,
    "events",
    "application-keys",
    "realms",
    "profiles",
    "customers",
    "members",
    "integrations",
    "delete-store",
  ],
  workers: [],
  readiness: [...BASE, "counters", "profiles", "workers"],
  config: ["lib", "storage"],
  traces: ["lib", "contract", "rate-limit"],
  observe: [...BASE, "counters", "workers", ...SLICES],
  deps: [...BASE, "counters", "observe", "readiness", "workers", ...SLICES],
  tidy: ["deps", "lib", "storage", "http", ...SLICES],
  routes: ["deps", "contract", "http", ...SLICES],
  app: ["lib", "access", "deps", "observe", "tidy", "http", "readiness", "routes"],
  sealed: ["lib", "storage", "signing-keys", "profiles", "customers", "integrations"],
  main: ["app", "config", "contract", "http", "sealed", "traces", "lib", "storage", "counters", "workers"],
  cli: [
    ...BASE,
    "main",
    "workers",
    "observe",
    "config",
    "create-store",
    "delete-store",
    "restore",
    "sealed",
    ...SLICES,
  ],
};

const roomOf = (path: string) =>
  path.replace("packages/server/src/", "").split("/")[0]?.replace(/\.ts$/, "") ?? "";

describe("imports", () => {
  test.each(sources.map((path) => [path.replace("packages/server/src/", ""), path]))(
    "of %s point down",
    (_, path) => {
      for (const [, target] of read(path).matchAll(/(?:from |import\()"(\.[^"]+\.ts)"/g)) {
        const room = roomOf(posix.join(posix.dirname(path), target as string));
        if (room === roomOf(path)) continue;
        expect(ROOMS[roomOf(path)], `${path} imports from ${room}`).toContain(room);
      }
    },
  );

  test("only storage/ imports database drivers, only counters/ the client of Valkey; no source imports Hono", () => {
    for (const path of sources) {
      const text = read(path);
      expect(text, path).not.toMatch(/from "(hono(\/[^"]+)?|@hono\/[^"]+)"/);
      if (roomOf(path) !== "storage") expect(text, path).not.toMatch(/from "(pg|node:sqlite)"/);
      if (roomOf(path) !== "counters") expect(text, path).not.toMatch(/from "ioredis"/);
    }
  });

  test("the client of Valkey is loaded only where there is a Valkey: other rooms import its types, or import it at run time", () => {
    for (const path of sources)
      if (roomOf(path) !== "counters")
        expect(read(path), path).not.toMatch(
          /import (?!type )[^;]*from "[./]*counters\/(valkey|client)\.ts"/,
        );
  });

  test("serving code does not import `node:http`: the reason is in lib/node-http.ts", () => {
    const importsHttp = /^import (?!type )[^;]*? from "node:http";/m;
    // `prove-limits` is a client: it serves nothing.
    const offenders = sources.filter(
      (path) => importsHttp.test(read(path)) && !path.endsWith("/remote/provers.ts"),
    );
    expect(offenders).toEqual([]);
  });

  test("traces/ is loaded only where a collector is configured", () => {
    const isOutside = (path: string) => roomOf(path) !== "traces";
    for (const path of sources.filter(isOutside))
      expect(read(path), path).not.toMatch(/from "[^"]*\/traces\/[^"]*"/);
    expect(sources.filter(isOutside).filter((path) => /import\("[^"]*\/traces\//.test(read(path)))).toEqual([
      "packages/server/src/main.ts",
    ]);
  });

  test("a limit is a parameter that SQLite ignores in its plan: `atMost`, or a number in the text", () => {
    for (const path of sources)
      expect(read(path), path).not.toMatch(/\.limit\((?!atMost\()|limit \$\{(?!atMost\()/);
  });

  test("sent values are parameters of statements, never part of their text: only migrations have raw SQL (A71)", () => {
    const raw = sources.filter((path) => /\bsql\.raw\(|CompiledQuery\.raw\(/.test(read(path)));
    expect(raw.filter((path) => !/\/storage\/(migrations\/|migrate\.ts)/.test(path))).toEqual([]);
  });

  test("only storage/ opens transactions: `storage.transact` repeats a transaction after a deadlock", () => {
    for (const path of sources)
      if (roomOf(path) !== "storage") expect(read(path), path).not.toContain(".transaction()");
  });

  test("only the command line reads the environment", () => {
    for (const path of sources)
      if (roomOf(path) !== "cli") expect(read(path), path).not.toContain("process.env");
  });
});

describe("the console", () => {
  const LIBRARIES = [
    "react",
    "react-dom",
    "react-dom/client",
    "wouter",
    "@tanstack/react-query",
    "@ariakit/react/combobox",
    "@ariakit/react/dialog",
    "@latchkey/sdk/admin",
    "virtual:documentation",
    "virtual:products",
    "virtual:recipes",
    "virtual:remedies",
  ];
  const isTest = (path: string) => path.endsWith(".test.ts");

  test("imports the SDK, the libraries of its decision record, and itself", () => {
    for (const path of consoleSources.filter((source) => !isTest(source)))
      for (const [, target = ""] of read(path).matchAll(/(?:from |import\()"([^"]+)"/g))
        expect(target.startsWith(".") || LIBRARIES.includes(target), `${path} imports ${target}`).toBe(true);
  });

  test("calls the service through the SDK alone, and assembles no markup", () => {
    for (const path of consoleSources)
      expect(read(path), path).not.toMatch(
        /\bfetch\(|XMLHttpRequest|EventSource|innerHTML|InnerHTML|document\.write/,
      );
  });

  test("stores nothing on the device, except the state of a sign-on", () => {
    for (const path of consoleSources)
      if (!path.startsWith("packages/console/src/session/"))
        expect(read(path), path).not.toMatch(/localStorage|sessionStorage|indexedDB|document\.cookie/);
  });
});

/** What a file imports from its neighbours, as "path name"; "path *" where it takes everything. */
function importsOf(path: string): string[] {
  const text = read(path);
  const at = (target: string) => posix.join(posix.dirname(path), target);
  const whole = [...text.matchAll(/import\("(\.[^"]+)"\)|export \* from "(\.[^"]+)"/g)].map(
    ([, dynamic, again]) => `${at((dynamic ?? again) as string)} *`,
  );
  const named = [...text.matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g)].flatMap(
    ([, names = "", target = ""]) =>
      names.split(",").map(
        (name) =>
          `${at(target)} ${
            name
              .trim()
              .replace(/^type /, "")
              .split(" ")[0]
          }`,
      ),
  );
  const dotted = [...text.matchAll(/import (?:type )?\* as (\w+) from "(\.[^"]+)"/g)].flatMap(
    ([, space, target = ""]) =>
      [...text.matchAll(new RegExp(`\\b${space}(?:\\.(\\w+)|[,)])`, "g"))].map(
        ([, name = "*"]) => `${at(target)} ${name}`,
      ),
  );
  return [...whole, ...named, ...dotted];
}

describe("exports", () => {
  test("are imported somewhere: a name that only its own file uses is not exported", () => {
    const imported = new Set(files.filter((path) => /\.[jt]sx?$/.test(path)).flatMap(importsOf));
    const ours = files.filter((path) =>
      /^(bench|e2e|scripts|packages\/(server|demo|console)\/(src|test))\/.*(?<!\.test|\.d)\.tsx?$/.test(path),
    );
    const unused = ours.flatMap((path) =>
      [...read(path).matchAll(/^export (?:async )?(?:type|const|function|class) (\w+)/gm)]
        .map(([, name]) => `${path} ${name}`)
        .filter((name) => !imported.has(name) && !imported.has(`${path} *`)),
    );
    expect(unused).toEqual([]);
  });
});

describe("npm scripts", () => {
  test("start Node through bin/launch.js: npm 9 and 10 put the Node of the machine first in PATH", () => {
    const manifests = [
      "package.json",
      ...files.filter((path) => /^packages\/[^/]+\/package\.json$/.test(path)),
    ];
    for (const path of manifests)
      for (const [name, script] of Object.entries<string>(JSON.parse(read(path)).scripts ?? {})) {
        const rest = script
          .replaceAll(/\bnode (packages\/server|\.\.\/server)\/bin\/launch\.js /g, "")
          // Programs that any Node can start: what they do is not in JavaScript.
          .replaceAll(/\bnode bench\/node_modules\/@biomejs\/biome\/bin\/biome /g, "");
        expect(rest, `${path}: ${name}`).not.toMatch(/(^|&& |=\S+ )(node|vitest|vite)\b/);
      }
  });
});

describe("files", () => {
  test("have specific names", () => {
    const vague = /(^|[/-])(utils?|helpers?|common|misc|manager|service|handler|impl|base|data|info)\.ts$/;
    // The contract's operations of the service itself: health, metrics, the document.
    const allowed = new Set(["packages/server/src/contract/service.ts"]);
    expect(files.filter((path) => vague.test(path) && !allowed.has(path))).toEqual([]);
  });

  test("have at most 300 lines", () => {
    // One table of problems, one of reasons and one of providers is worth more than short files.
    const tables = new Set([
      "packages/server/src/contract/problems.ts",
      "packages/server/src/contract/sign-on-reasons.ts",
      "packages/server/src/contract/known-providers.ts",
      // Made from the migrations.
      "packages/server/src/storage/tables.ts",
    ]);
    const long = [...sources, ...consoleSources].filter(
      (path) => !tables.has(path) && read(path).split("\n").length > 301,
    );
    expect(long).toEqual([]);
  });

  test("have no words of unfinished work and no dead debugging", () => {
    const words = new RegExp(["TO", "DO|FIX", "ME|X", "XX|not imple", "mented|debug", "ger;"].join(""));
    const papers = files.filter((path) => path.endsWith(".md"));
    for (const path of [...sources, ...papers]) expect(read(path), path).not.toMatch(words);
    for (const path of papers) expect(read(path), path).not.toMatch(/^[A-Z]{4,}$/m);
  });

  test("mock no module in a test: test files share their imports, so an earlier file has loaded the real module", () => {
    const mock = new RegExp(["vi\\.", "(do)?mock\\("].join(""), "i");
    expect(files.filter((path) => path.endsWith(".test.ts") && mock.test(read(path)))).toEqual([]);
  });

  test("that are generated are up to date: run `npm run generate`", async () => {
    for (const [path, content] of Object.entries(await generatedFiles()))
      expect(read(path), path).toBe(content);
  });

  test("lock files name no download address", () => {
    const locks = files.filter((path) => path.endsWith("package-lock.json"));
    expect(locks.length).toBeGreaterThan(1);
    for (const path of locks) expect(read(path), path).not.toContain('"resolved": "http');
  });

  test("decision records have at most 60 lines", () => {
    for (const path of files.filter((file) => file.startsWith("docs/adr/"))) {
      expect(read(path).trimEnd().split("\n").length, path).toBeLessThanOrEqual(60);
    }
  });
});

describe("the contract", () => {
  test("is served completely: every operation has its line in routes.ts, and no line is without an operation", () => {
    const served = routes({ publicUrl: "" } as never).map(({ operation }) => operation);
    expect(new Set(served)).toEqual(new Set(operations));
    expect(served).toHaveLength(operations.length);
  });

  test("has each id once, and each pair of method and path once", () => {
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
  });

  test("explains every problem in sentences with a full stop", () => {
    for (const [code, { means, remedy }] of Object.entries(problems)) {
      expect(means, code).toMatch(/\.$/);
      expect(remedy, code).toMatch(/\.$/);
    }
  });

  test("has an entry in docs/storage.md for every table", () => {
    const tables = [...read("packages/server/src/storage/tables.ts").matchAll(/^ {2}(\w+): \{/gm)].map(
      (match) => match[1],
    );
    for (const table of tables) expect(read("docs/storage.md"), table).toContain(`\`${table}\``);
  });
});

describe("secrets", () => {
  const names = /^(?!sealed).*(secret|password|(secret|password|code)_?hash|mac|signature|browser_?digest)$/i;

  test("are compared in constant time, by their digests: `hashesEqual`, or `timingSafeEqual` for the mark of an access token (A68)", () => {
    const compared: string[] = [];
    for (const path of sources)
      visit(path, (lineOf) => ({
        BinaryExpression(node) {
          if (!/^[!=]==?$/.test(node.operator)) return;
          const sides = [node.left, node.right];
          if (sides.some(isKnownToAll)) return;
          if (sides.some((side) => names.test(nameOf(side)))) compared.push(lineOf(node));
        },
      }));
    expect(compared).toEqual([]);
    expect(sources.filter((path) => read(path).includes("timingSafeEqual("))).toEqual([
      "packages/server/src/access/access-token.ts",
      "packages/server/src/lib/secrets.ts",
    ]);
  });
});

/** Something that stands in the source, or nothing at all. */
const isKnownToAll = (node: ESTree.Node): boolean =>
  node.type === "Literal" || (node.type === "Identifier" && node.name === "undefined");

/** What a value is called, at its end: `row.secret_hash` is a `secret_hash`. */
function nameOf(node: ESTree.Node): string {
  if (node.type === "Identifier") return node.name;
  if (node.type === "MemberExpression") return nameOf(node.property);
  if (node.type === "CallExpression") return nameOf(node.callee);
  return node.type === "ChainExpression" ? nameOf(node.expression) : "";
}

describe("the threat model", () => {
  /** N: what a hostile provider does. A: attacks that others have met. T: bad input, and what breaks. */
  const CASES = [
    ..."N01-25 N27-30 N32-35 N37-39 N41-43 N50-56 N58-61 N70-86 N90-96 N98-101 N110-116".split(" "),
    ..."A01-11 A20-36 A40-47 A50-58 A60-76".split(" "),
    ..."T01-35 T37-38 T40-54".split(" "),
  ];
  const range = (kind: string, from: string, to: string) =>
    Array.from(
      { length: Number(to) - Number(from) + 1 },
      (_, at) => `${kind}${String(Number(from) + at).padStart(2, "0")}`,
    );

  test("has a test that names it for every case (T24b)", () => {
    const named = new Set<string>();
    for (const path of files.filter((file) => /^(e2e|packages\/\w+\/test)\/.*\.ts$|\.test\.ts$/.test(file))) {
      if (path === "e2e/house-rules.test.ts") continue;
      const text = read(path);
      for (const [id] of text.matchAll(/\b[NAT]\d{2,3}\b/g)) named.add(id);
      for (const [, kind = "", from = "", to = ""] of text.matchAll(/\b([NAT])(\d+) to \1(\d+)\b/g))
        for (const id of range(kind, from, to)) named.add(id);
    }
    const cases = CASES.flatMap((text) => {
      const [, kind = "", from = "", to = ""] = /^(\w)(\d+)-(\d+)$/.exec(text) ?? [];
      return range(kind, from, to);
    });
    expect(cases.length).toBeGreaterThan(180);
    expect(cases.filter((id) => !named.has(id))).toEqual([]);
  });
});
