import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";

/**
 * A registry on this machine with the packages that `npm ci` has installed here, so that `npm install` needs no
 * network.
 */
export type Registry = { url: string; close(): Promise<void> };

type Installed = { folder: string; manifest: { name: string; version: string } };

export async function startRegistry(root: string): Promise<Registry> {
  const installed = readInstalled(root);
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url as string).slice(1));
    const [, name = "", version] = /^(@[^/]+\/[^@/]+|[^@/]+)(?:@(.+)\.tgz)?$/.exec(path) ?? [];
    const versions = installed.filter(({ manifest }) => manifest.name === name);
    const wanted = versions.find(({ manifest }) => manifest.version === version);
    if (wanted) return packInto(wanted.folder, response);
    if (version !== undefined || versions.length === 0) return response.writeHead(404).end("{}");
    const latest = versions.at(-1)?.manifest.version;
    const described = versions.map(({ manifest }) => {
      const tarball = `${url}/${name}@${manifest.version}.tgz`;
      return [manifest.version, { ...manifest, dist: { tarball } }];
    });
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ name, "dist-tags": { latest }, versions: Object.fromEntries(described) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The packages of npm's own list, each version with its folder. */
function readInstalled(root: string): Installed[] {
  const { packages } = JSON.parse(readFileSync(join(root, "node_modules/.package-lock.json"), "utf8"));
  return Object.entries<{ link?: boolean }>(packages)
    .filter(([path, { link }]) => path.startsWith("node_modules/") && !link)
    .map(([path]) => {
      const folder = join(root, path);
      return { folder, manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) };
    });
}

/** Fast rather than small, because Node is among the packages. */
function packInto(folder: string, response: NodeJS.WritableStream): void {
  const tar = spawn("tar", ["-c", "--exclude=node_modules", "-C", dirname(folder), basename(folder)]);
  tar.stdout.pipe(response);
}
