import { readOpenConfig } from "../config.ts";
import { operatorFault } from "../lib/operator-fault.ts";

type Given = { live: boolean; url: string | undefined; json: boolean };

const ANSWERS_WITHIN_MS = 5000;

export async function health({ live, url, json }: Given): Promise<void> {
  const asked = `${url?.replace(/\/+$/, "") ?? ownUrl()}/health/${live ? "live" : "ready"}`;
  const { ok, status, text } = await ask(asked).catch((cause) => {
    const why = (cause.cause as { code?: string } | undefined)?.code ?? cause.name;
    throw operatorFault(`nothing answers at ${asked} (${why})`, cause);
  });
  if (json) console.log(text);
  if (!ok) throw operatorFault(`${asked} answers ${status}: ${text}`);
  if (!json) console.log(live ? "live" : "ready");
}

async function ask(url: string): Promise<{ ok: boolean; status: number; text: string }> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
  return { ok: answer.ok, status: answer.status, text: await answer.text() };
}

/** Where this machine's service listens; one that listens on every address is asked on the loopback one. */
function ownUrl(): string {
  const { host, port, operationsPort } = readOpenConfig(process.env);
  const reachable =
    { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[host] ?? (host.includes(":") ? `[${host}]` : host);
  return `http://${reachable}:${operationsPort ?? port}`;
}
