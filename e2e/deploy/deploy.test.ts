import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { BlockList } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { variables } from "../../packages/server/src/config.ts";
import { limits } from "../../packages/server/src/contract/limits.ts";
import { allocatorOfImage } from "../../packages/server/test/support/allocator.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { askOver, type Certificate, hasOpenssl, makeCertificate } from "../support/certificate.ts";
import { type Gateway, isHere, shownIn, startCaddy, startNginx } from "../support/gateways.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** The files of deploy/, as far as they can run without a container engine, a cluster and a running systemd. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, "deploy", path), "utf8");
const known = new Set([...variables.map(({ name }) => name), "NODE_ENV"]);

// playwright-core bundles a YAML parser; no package of the repository has another one.
const { yaml } = (await import("playwright-core/lib/utilsBundle" as string)) as {
  yaml: { parse(text: string, options?: { merge: boolean }): never };
};

describe("the image", () => {
  const file = read("container/Containerfile");
  /** Instructions of each stage, in order. */
  const stages = file
    .replaceAll(/^#.*\n/gm, "")
    .split(/^(?=FROM )/m)
    .filter((stage) => stage.startsWith("FROM "))
    .map((stage) =>
      stage
        .trim()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => [line.split(" ", 1)[0] as string, line.slice(line.indexOf(" ") + 1)] as const),
    );
  const [build = [], , final = []] = stages;
  const only = (name: string) =>
    final.filter(([instruction]) => instruction === name).map(([, rest]) => rest);

  test("runs one process, not as root, with a health check that needs no other program", () => {
    expect(stages).toHaveLength(3);
    expect(only("USER")).toEqual(["1000:1000"]);
    expect(only("RUN")).toEqual([]);
    const entry = ["node", "packages/server/bin/latchkey.js"];
    expect([only("ENTRYPOINT"), only("CMD")].map(([value]) => JSON.parse(value as string))).toEqual([
      entry,
      ["serve"],
    ]);
    const [check = ""] = only("HEALTHCHECK");
    expect(JSON.parse(check.slice(check.indexOf("[")))).toEqual([...entry, "health"]);
    const names = only("ENV").flatMap((line) => line.split(" ").map((part) => part.split("=", 1)[0]));
    for (const name of names) expect([...known, "LD_PRELOAD", "MALLOC_CONF"]).toContain(name);
  });

  test("loads the allocator of its own build stage, with options that this allocator knows", ({ skip }) => {
    const env = allocatorOfImage();
    if (!env) return skip("its allocator is not installed; to run this: apt-get install libjemalloc2");
    const [, from = "", to = ""] =
      only("COPY")
        .find((line) => line.startsWith("--from=allocator "))
        ?.split(" ") ?? [];
    expect(only("ENV").join(" ")).toContain(`LD_PRELOAD=${to}${basename(from)} `);
    expect(read("systemd/latchkey.env.example")).toContain(`#MALLOC_CONF=${env.MALLOC_CONF}\n`);
    // jemalloc warns about an unknown option, and continues without it.
    const { stderr } = spawnSync(process.execPath, ["--version"], { env, encoding: "utf8" });
    expect(stderr).toBe("");
  });

  const folder = mkdtempSync(join(tmpdir(), "latchkey-image-"));
  afterAll(() => {
    spawnSync("chmod", ["-R", "u+w", folder]);
    rmSync(folder, { recursive: true, force: true });
  });

  test("serves from read-only files as another user, answers its health check, and ends with 0", async ({
    skip,
  }) => {
    for (const [instruction, rest] of build) {
      if (instruction === "COPY") {
        const [to = "", ...from] = rest.split(" ").toReversed();
        for (const path of from)
          cpSync(join(root, path), join(folder, to === "./" ? path : to), {
            recursive: true,
            filter: (source) => !/\/(node_modules|dist|data)$/.test(source),
          });
      }
      if (instruction !== "RUN") continue;
      // `npm ci` has filled npm's cache with these packages, so nothing is downloaded again.
      const env = { ...process.env, npm_config_offline: "true", NODE_ENV: undefined };
      const done = spawnSync("sh", ["-c", rest], { cwd: folder, env, encoding: "utf8" });
      if (done.stderr.includes("ENOTCACHED") && !process.env.CI)
        skip("npm's cache does not have all packages; to run this, run `npm ci` first");
      expect(done.status, done.stderr).toBe(0);
    }
    expect(readdirSync(join(folder, "node_modules")).filter((name) => name.startsWith("node-"))).toEqual([]);
    const kept = readdirSync(join(folder, "node_modules"));
    for (const tool of ["vitest", "vite", "react"]) expect(kept).not.toContain(tool);
    execFileSync("chmod", ["-R", "a-w,a+rX", folder]);
    const files = () => readdirSync(folder, { recursive: true }).length;
    const before = files();

    const place = await newPlace();
    chmodSync(place.folder, 0o777);
    const user = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {};
    const [, ...program] = JSON.parse(only("ENTRYPOINT")[0] as string);
    const env = { PATH: process.env.PATH, ...place.env, ...allocatorOfImage() };
    const start = (args: string[]) =>
      spawn(process.execPath, [...program, ...args], { cwd: folder, env, ...user, stdio: "pipe" });
    const child = start(["serve"]);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
    const exited = new Promise((resolve) => child.once("exit", resolve));
    const check = () => new Promise((resolve) => start(["health"]).once("exit", resolve));
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`it did not start:\n${said}`);
      return (await check()) === 0;
    });
    expect((await fetch(`${place.url}/console/`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
    expect(await check()).toBe(1);
    expect(files()).toBe(before);
    place.leave();
  }, 300_000);
});

describe("the compose file", () => {
  type Service = {
    image: string;
    environment?: Record<string, string>;
    read_only?: boolean;
    cap_drop?: string[];
    depends_on?: Record<string, { condition: string }>;
    volumes?: string[];
  };
  const text = read("compose/compose.yaml");
  const { services } = yaml.parse(text, { merge: true }) as { services: Record<string, Service> };
  const instances = Object.entries(services).filter(([name]) => name.startsWith("latchkey-"));

  test("has three instances without writable files and rights, PostgreSQL, Valkey and nginx", () => {
    expect(Object.keys(services).sort()).toEqual([
      ...["latchkey-1", "latchkey-2", "latchkey-3"],
      ...["nginx", "postgres", "valkey"],
    ]);
    for (const [name, service] of instances)
      expect(service, name).toMatchObject({ read_only: true, cap_drop: ["ALL"], image: "latchkey" });
  });

  test("sets only known variables, and requires only variables of .env.example", () => {
    for (const [, { environment }] of instances)
      for (const name of Object.keys(environment ?? {})) expect([...known]).toContain(name);
    const offered = [...read("compose/.env.example").matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    const asked = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    expect([...asked].sort()).toEqual(offered.sort());
  });

  test("waits only for services of the file that have a check, and mounts only files that exist", () => {
    for (const [name, { depends_on = {}, volumes = [] }] of Object.entries(services)) {
      for (const other of Object.keys(depends_on)) expect(Object.keys(services), name).toContain(other);
      for (const mounted of volumes.filter((volume) => volume.startsWith(".")))
        expect(read(join("compose", mounted.split(":")[0] as string)), mounted).not.toBe("");
    }
  });

  test("puts every instance behind nginx, whose address alone is trusted for forwarded addresses", () => {
    const upstream = read("compose/nginx-upstream.conf");
    expect([...upstream.matchAll(/server ([\w-]+):4000/g)].map(([, name]) => name)).toEqual(
      instances.map(([name]) => name),
    );
    const address = text.match(/ipv4_address: ([\d.]+)/)?.[1];
    for (const [, { environment }] of instances)
      expect(environment?.LATCHKEY_TRUST_PROXY).toBe(`${address}/32`);
  });

  test("gives nginx an address that no earlier container can get", () => {
    const [, address = ""] = text.match(/ipv4_address: ([\d.]+)/) ?? [];
    const [, range = "0.0.0.0", length] = text.match(/ip_range: ([\d.]+)\/(\d+)/) ?? [];
    const given = new BlockList();
    given.addSubnet(range, Number(length ?? 0));
    expect(given.check(address)).toBe(false);
  });
});

describe("the chart", () => {
  const templates = readdirSync(join(root, "deploy/helm/latchkey/templates")).map((name) =>
    read(`helm/latchkey/templates/${name}`),
  );
  const used = new Set(
    templates.flatMap((template) =>
      [...template.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path as string),
    ),
  );
  const values = yaml.parse(read("helm/latchkey/values.yaml")) as Record<string, unknown>;

  /** Every value by its path, down to scalars, lists and mappings that are passed on whole. */
  function leaves(value: unknown, path: string): string[] {
    const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isMapping || used.has(path)) return [path];
    return Object.entries(value).flatMap(([name, inner]) => leaves(inner, path ? `${path}.${name}` : name));
  }

  test("uses each of its values, and declares each value that it uses", () => {
    expect([...used].sort()).toEqual(leaves(values, "").sort());
  });

  test("sets only known variables, and takes secrets from a Secret alone", () => {
    const names = templates.flatMap((text) =>
      [...text.matchAll(/name: ([A-Z][A-Z_]+)$/gm)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect([...known]).toContain(name);
    for (const secret of ["LATCHKEY_MASTER_KEY", "LATCHKEY_DATABASE_URL", "LATCHKEY_VALKEY_URL"])
      expect(templates.join("\n")).toMatch(
        new RegExp(`name: ${secret}\\n\\s+valueFrom:\\n\\s+secretKeyRef:`),
      );
  });

  test("gives the migration Job the instances' database and variables", () => {
    const helpers = read("helm/latchkey/templates/_helpers.tpl");
    const [, shared = ""] = /define "latchkey\.env" -}}(.*)\n{{- end }}/s.exec(helpers) ?? [];
    expect(shared).toContain("name: LATCHKEY_DATABASE_URL");
    expect(shared).toContain("range $name, $value := .Values.env");
    for (const file of ["deployment", "migrate"])
      expect(read(`helm/latchkey/templates/${file}.yaml`)).toMatch(
        /^ {10}env:\n(?: {12}.*\n)* {12}{{- include "latchkey\.env" \. \| nindent 12 }}$/m,
      );
  });

  test("refuses an ingress without the network of its controller: all shoppers would share one source address", () => {
    const ingress = read("helm/latchkey/templates/ingress.yaml");
    expect(ingress).toMatch(
      /^\{\{- if \.Values\.ingress\.enabled \}\}\n(?:\{\{- \/\*.*\n)?\{\{- \$_ := required "trustProxy is missing: .*" \(\.Values\.trustProxy/,
    );
    expect(values.trustProxy).toBe("");
    expect(read("helm/latchkey/templates/NOTES.txt")).toMatch(/if not \(\.Values\.trustProxy/);
    const page = readFileSync(join(root, "docs/install.md"), "utf8");
    expect(page).toMatch(/helm install .*\n?.*--set ingress\.enabled=true --set trustProxy=/);
  });

  test("describes every value, at the value or at its group", () => {
    const lines = read("helm/latchkey/values.yaml").split("\n");
    for (const [at, line] of lines.entries())
      if (
        /^\w+:/.test(line) &&
        !/^(image|service|ingress|autoscaling|resources|nodeSelector|tolerations|affinity):/.test(line)
      )
        expect(lines[at - 1], line).toMatch(/^#/);
  });
});

describe("the unit", () => {
  const unit = read("systemd/latchkey@.service");
  const folder = mkdtempSync(join(tmpdir(), "latchkey-unit-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const isSystemdHere = findProgram("systemd") !== undefined;

  test("starts an existing command, with known variables", () => {
    const [, launcher, program] = unit.match(/^ExecStart=.*\(node (\S+)\)" (\S+) serve'$/m) ?? [];
    expect(program).toBe("packages/server/bin/latchkey.js");
    const found = execFileSync("node", [join(root, launcher as string)], { encoding: "utf8" });
    expect(execFileSync(found.trim(), ["--version"], { encoding: "utf8" })).toBe(`${process.version}\n`);
    for (const [, name] of read("systemd/latchkey.env.example").matchAll(/^(\w+)=/gm))
      expect([...known]).toContain(name);
  });

  test("restarts without a limit: a database that is away for a minute at boot does not stop it for good", () => {
    expect(unit).toMatch(/^Restart=on-failure$/m);
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  });

  test.skipIf(!isSystemdHere)("has only options that systemd knows, and restricts the service", () => {
    const file = join(folder, "latchkey@4000.service");
    writeFileSync(file, unit);
    const verified = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    expect([verified.status, verified.stderr]).toEqual([0, ""]);
    const rated = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=20", file], {
      encoding: "utf8",
    });
    expect(rated.status, rated.stdout + rated.stderr).toBe(0);
  });
});

test("docs/install.md and docs/proxy.md start and restart instances of the unit in deploy/", () => {
  const page = ["docs/install.md", "docs/proxy.md"]
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n");
  const units = [...page.matchAll(/systemctl \w+(?: --[\w-]+)* (latchkey\S*)/g)].map(([, unit]) => unit);
  expect(units.length).toBeGreaterThan(3);
  for (const unit of units) expect(unit).toMatch(/^latchkey@(4000|\$port)$/);
});

test("docs/proxy.md shows the files of deploy/, word for word", () => {
  const nginx = read("nginx/latchkey-upstream.conf") + read("nginx/latchkey.conf");
  expect(shownIn("docs/proxy.md", "nginx")).toBe(nginx);
  expect(shownIn("docs/proxy.md", "caddyfile")).toBe(read("caddy/Caddyfile"));
});

test("nginx waits as long as a sign-on may wait for its provider: a place, documents, keys, each secret and UserInfo", () => {
  const [, seconds] = /proxy_read_timeout (\d+)s;/.exec(read("nginx/latchkey.conf")) ?? [];
  expect(Number(seconds) * 1000).toBeGreaterThan(limits.idpWaitMs + 5 * limits.idpCallMs);
});

describe.skipIf(!hasOpenssl())("TLS in front", () => {
  let place: Place;
  let running: Running;
  let certificate: Certificate;
  let token: string;
  let storeId: string;
  let dead: number;
  beforeAll(async () => {
    place = await newPlace();
    place.env.LATCHKEY_PUBLIC_URL = "https://keys.example";
    place.env.LATCHKEY_TRUST_PROXY = "127.0.0.1";
    running = await serve(place);
    const made = await createStore(place);
    storeId = made.store.id;
    token = await getToken(place.url, made);
    mkdirSync(join(place.folder, "tls"));
    certificate = makeCertificate(join(place.folder, "tls"), "keys.example");
    dead = await freePort();
  });
  afterAll(async () => {
    running.child.kill("SIGTERM");
    await running.exited;
    place.leave();
  });

  /** The addresses of the file become one instance that serves, and two that are away. */
  const withOurs = (configuration: string): string =>
    configuration
      .replaceAll("10.0.0.1:4000", new URL(place.url).host.replace("localhost", "127.0.0.1"))
      .replaceAll(/10\.0\.0\.[23]:4000/g, `127.0.0.1:${dead}`)
      .replaceAll("/etc/ssl/certs/keys.example.pem", certificate.certFile)
      .replaceAll("/etc/ssl/private/keys.example.key", certificate.keyFile);

  const startNginxOn = (port: number, plain: number) =>
    startNginx(
      withOurs(read("nginx/latchkey-upstream.conf") + read("nginx/latchkey.conf"))
        .replace("listen 443 ssl;", `listen 127.0.0.1:${port} ssl;`)
        .replace("listen 80;", `listen 127.0.0.1:${plain};`),
      `https://127.0.0.1:${port}`,
    );
  const startCaddyOn = (port: number, plain: number) =>
    startCaddy(
      withOurs(read("caddy/Caddyfile")).replace(
        "keys.example {",
        `https://keys.example:${port} {\n\tbind 127.0.0.1`,
      ),
      `https://127.0.0.1:${port}`,
      `\thttp_port ${plain}\n\thttps_port ${port}\n\tskip_install_trust\n`,
    );

  describe.each([
    ["nginx", startNginxOn],
    ["caddy", startCaddyOn],
  ] as const)("by %s", (kind, start) => {
    const isInstalled = isHere(kind);
    let gateway: Gateway | undefined;
    let port: number;
    let plain: number;
    beforeAll(async () => {
      if (!isInstalled) return;
      [port, plain] = [await freePort(), await freePort()];
      gateway = await start(port, plain);
    });
    afterAll(() => gateway?.close());

    test.skipIf(!isInstalled)(
      "serves while two of three instances are away, and forwards the scheme https",
      async () => {
        const authorization = `Bearer ${token}`;
        for (let at = 0; at < 6; at++) {
          const answer = await askOver(certificate, port, "/v2/store", { headers: { authorization } });
          expect([answer.status, JSON.parse(answer.text).data.id]).toEqual([200, storeId]);
          // The service sends the header itself, once.
          expect(answer.headers["strict-transport-security"]).toBe("max-age=31536000");
          expect(JSON.parse(answer.text).links.self).toBe("https://keys.example/v2/store");
        }
        const insecure = await fetch(`http://127.0.0.1:${plain}/v2/store?a=b`, {
          redirect: "manual",
          headers: { host: "keys.example" },
        });
        expect(insecure.status).toBe(308);
        expect(insecure.headers.get("location")).toMatch(
          /^https:\/\/(keys\.example|127\.0\.0\.1)(:\d+)?\/v2\/store\?a=b$/,
        );
      },
    );

    test.skipIf(!isInstalled)("does not publish metrics and health", async () => {
      for (const path of ["/metrics", "/health/live"])
        expect((await askOver(certificate, port, path)).status, path).toBe(404);
    });

    test.skipIf(!isInstalled)("streams events without a delay, also with a trailing slash", async () => {
      const { headers } = await askOver(certificate, port, "/v2/events/stream/?after=0", {
        headers: { authorization: `Bearer ${token}` },
        until: (said) => said.includes("application_key.created"),
      });
      expect(headers["content-type"]).toContain("text/event-stream");
    });

    test.skipIf(!isInstalled)(
      "streams events without a delay, and forwards the client's address",
      async () => {
        const headers = { authorization: `Bearer ${token}`, "x-request-id": `${basename(place.folder)}` };
        const stream = await askOver(certificate, port, "/v2/events/stream?after=0", {
          headers,
          until: (text) => text.includes("application_key.created"),
        });
        expect(stream.headers["content-type"]).toContain("text/event-stream");
        const lines = () => running.logLines().filter((line) => line.includes("/v2/store"));
        await until(() => lines().length > 0);
        for (const line of lines()) expect(JSON.parse(line).source).toBe("127.0.0.1");
      },
    );
  });
});
