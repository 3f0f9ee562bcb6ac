import { readFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestApp, type TestApp } from "./support/app.ts";

/** The console's files, as the service serves them. */

let latchkey: TestApp;
beforeAll(async () => {
  latchkey = await createTestApp();
});
afterAll(() => latchkey.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  latchkey.app.fetch(new Request("http://internal/", { headers }), { incoming: { url: path } });

const listing: { screens: string[]; files: string[] } = JSON.parse(
  readFileSync(new URL("../../console/dist/console.json", import.meta.url), "utf8"),
);

describe("screens", () => {
  test("answer with the page, with and without a trailing slash", async () => {
    for (const screen of listing.screens) {
      const path = `/console${screen.replaceAll(/:\w+/g, "01890000-0000-7000-8000-000000000000")}`;
      for (const asked of [path, `${path.replace(/\/$/, "")}/`]) {
        const answer = await get(asked);
        expect([asked, answer.status]).toEqual([asked, 200]);
        expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
        expect(await answer.text()).toContain('<div id="console">');
      }
    }
  });

  test("404 for a path that is no screen, with the page, which says so", async () => {
    for (const path of [
      "/console/nothing",
      "/console/planner/more",
      "/console/keys/a%20b",
      "/console/realms",
    ]) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(await answer.text()).toContain('<div id="console">');
    }
  });

  test("404 without the page for a path that names a file", async () => {
    for (const path of ["/console/assets/none.js", "/console/console.json", "/console/favicon.ico"]) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get("content-type")]).toEqual([
        path,
        404,
        "application/json",
      ]);
    }
  });

  test("404 for paths that lead out of the folder, in every spelling", async () => {
    for (const path of [
      "/console/../package.json",
      "/console/assets/../../package.json",
      "/console/%2e%2e/package.json",
      "/console/..%2fpackage.json",
      "/console/assets/..\\..\\package.json",
      "/console//etc/passwd",
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });
});

describe("files", () => {
  test("with a hash in their name are cached for ever, the page is revalidated", async () => {
    expect((await get("/console/")).headers.get("cache-control")).toBe("no-cache");
    const files = listing.files.filter((file) => file.startsWith("assets/"));
    expect(files.length).toBeGreaterThan(10);
    for (const file of files) {
      const { headers, status } = await get(`/console/${file}`);
      expect(status).toBe(200);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("content-type")).toMatch(
        /^(text\/(css|javascript); charset=utf-8|image\/svg\+xml)$/,
      );
    }
  });

  test("come compressed for clients that accept gzip, with the same contents", async () => {
    const file = `/console/${listing.files.find((name) => name.endsWith(".css"))}`;
    const zipped = await get(file, { "accept-encoding": "gzip, deflate, br" });
    expect([zipped.headers.get("content-encoding"), zipped.headers.get("vary")]).toEqual([
      "gzip",
      "Accept-Encoding",
    ]);
    const plain = await get(file);
    expect(plain.headers.has("content-encoding")).toBe(false);
    expect(gunzipSync(await zipped.arrayBuffer()).toString()).toBe(await plain.text());
    expect((await get(file, { "accept-encoding": "gzip;q=0" })).headers.has("content-encoding")).toBe(false);
  });

  test("have a policy that allows nothing inline and nothing from other origins", async () => {
    const answer = await get("/console/");
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const page = await answer.text();
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
    for (const [, target = ""] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect(target).toMatch(/^\/console\/assets\//);
      expect((await get(target)).status).toBe(200);
    }
  });
});

test("the first screen needs less than 150 kB of script, compressed", () => {
  const read = (file: string) => readFileSync(new URL(`../../console/dist/${file}`, import.meta.url), "utf8");
  const [, entry = ""] = /src="\/console\/(assets\/[^"]+\.js)"/.exec(read("index.html")) ?? [];
  const home = listing.files.find((file) => /assets\/home-/.test(file)) ?? "";
  const needed = new Set<string>();
  const waiting = [entry, home];
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (needed.has(file)) continue;
    needed.add(file);
    for (const [, next] of read(file).matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g))
      waiting.push(`assets/${next}`);
  }
  expect(needed.size).toBeGreaterThan(2);
  const bytes = [...needed].reduce((sum, file) => sum + gzipSync(read(file)).length, 0);
  console.log(`console, first screen: ${needed.size} files, ${bytes} bytes gzipped`);
  expect(bytes).toBeLessThan(150_000);
});
