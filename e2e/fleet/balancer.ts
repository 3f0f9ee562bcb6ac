import { isHere, shownIn, startNginx } from "../support/gateways.ts";
import type { Target } from "./ask.ts";
import type { Fleet } from "./fleet.ts";

/** nginx in front of a fleet, with the configuration that docs/proxy.md shows. */
export type Balancer = Target & { close(): Promise<void> };

export const hasNginx = isHere("nginx");

/** The page's configuration with the addresses of the test, and without TLS, which e2e/deploy/deploy.test.ts covers. */
function configurationFor({ instances, publicUrl }: Fleet): string {
  let configuration = shownIn("docs/proxy.md", "nginx")
    .replace(/listen 443 ssl;/, `listen 127.0.0.1:${new URL(publicUrl).port};`)
    .replace(/^server \{\n +listen 80;[^}]*\}\n/m, "")
    .replace(/^ *ssl_.*\n/gm, "");
  for (const [index, { url }] of instances.entries())
    configuration = configuration.replace(`10.0.0.${index + 1}:4000`, new URL(url).host);
  if (/:4000\b|ssl/.test(configuration)) throw new Error(`not all of it was replaced:\n${configuration}`);
  return configuration;
}

export async function startBalancer(fleet: Fleet): Promise<Balancer> {
  const url = `http://127.0.0.1:${new URL(fleet.publicUrl).port}`;
  return { name: "nginx", ...(await startNginx(configurationFor(fleet), url)) };
}
