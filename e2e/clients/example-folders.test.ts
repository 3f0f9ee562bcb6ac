import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** The folders of examples/: lock files, guides and shared files. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const NAMES = ["html", "express", "react", "next"] as const;

describe("the folders of the examples", () => {
  const read = (path: string) => readFileSync(join(root, "examples", path), "utf8");

  test("have complete lock files, without a digest of the SDK, which changes with the repository", () => {
    for (const name of NAMES) {
      const { packages } = JSON.parse(read(`${name}/package-lock.json`));
      // Where a registry lacks a package for one platform, npm writes no version, and `npm ci` refuses the lock file.
      for (const [path, { version }] of Object.entries<{ version?: string }>(packages))
        if (path !== "") expect(version, `${name}: ${path}`).toBeDefined();
      expect(packages["node_modules/@latchkey/sdk"], name).toEqual(
        expect.not.objectContaining({ integrity: expect.anything() }),
      );
    }
  });

  test("are installed, registered and started by the commands of their guides", () => {
    const guides = { html: "plain-html", express: "express", react: "react", next: "nextjs" };
    for (const name of NAMES) {
      const guide = readFileSync(join(root, `docs/guides/${guides[name]}.md`), "utf8");
      const shop =
        name === "html" ? "http://localhost:5500" : /SHOP_URL=(\S+)/.exec(read(`${name}/.env.example`))?.[1];
      expect(guide).toContain(`npm run examples -- ${name}\n`);
      expect(guide).toContain(`\nnpx latchkey realm allow ${shop}${name === "html" ? "/" : "/signed-in"}\n`);
      expect(guide).toContain(`Open ${shop}`);
      const { scripts } = JSON.parse(read(`${name}/package.json`));
      const started = guide.match(/cd examples\/\w+\nnpm (?:run )?(\w+)/)?.[1] ?? "";
      expect(Object.keys(scripts), name).toContain(started);
    }
    expect(read("html/serve.js")).toContain("?? 5500");
  });

  test("the tutorial has the steps of its test, in this order, with the texts of the screens", () => {
    let rest = readFileSync(join(root, "docs/tutorial.md"), "utf8");
    for (const step of [
      "npm run examples -- html\n",
      "\nnpx latchkey realm allow http://localhost:5500/\n",
      "cd examples/html\nnpm start\n",
      "**Continue with Practice sign-in**",
      "*Hello, Ada*",
      "**Wrong issuer**",
      "\nnpx latchkey sign-on show ",
      "`id_token.iss`",
      "**Reset all**",
      "**Sign out here**",
      "sign in as Sam",
      "**Look up**",
    ]) {
      expect(rest).toContain(step);
      rest = rest.slice(rest.indexOf(step) + step.length);
    }
  });

  test("share the files that they claim to share", () => {
    expect(read("react/sign-on.js")).toBe(read("express/sign-on.js"));
    for (const path of ["html/style.css", "react/public/style.css", "next/app/style.css"])
      expect(read(path), path).toBe(read("express/public/style.css"));
  });
});
