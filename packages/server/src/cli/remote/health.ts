import { readOpenConfig } from "../../config.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { quoted, readUrl } from "../options.ts";
import { readJson } from "../read-json.ts";
import { ask } from "./ask.ts";
import { ownAddressOf } from "./own-address.ts";

type HealthOptions = { live: boolean; url: string | undefined; json: boolean };

const ANSWERS_WITHIN_MS = 5000;

export async function health({ live, url, json }: HealthOptions): Promise<void> {
  const asked = `${url === undefined ? ownUrl() : readUrl(url)}/health/${live ? "live" : "ready"}`;
  const { status, text } = await ask(asked, AbortSignal.timeout(ANSWERS_WITHIN_MS)).catch((cause) => {
    const why = cause.name === "AbortError" ? `not within ${ANSWERS_WITHIN_MS / 1000} seconds` : cause.code;
    throw operatorFault(`nothing answers at ${asked} (${why})`, cause);
  });
  const said = readJson<HealthAnswer>(text);
  if (json && said) console.log(text);
  if (status !== 200) throw operatorFault(`${asked} answers ${status}: ${whyNot(said) ?? quoted(text)}`);
  if (said?.status !== (live ? "live" : "ready"))
    throw operatorFault(`${asked} is another program's: it answers ${status} with ${quoted(text)}`);
  if (!json) console.log(describe(said));
}

type HealthAnswer = {
  status?: string;
  identity_providers?: { down: number; degraded: number };
  degraded?: string[];
  errors?: { detail?: string; meta?: { reasons?: string[] } }[];
};

function whyNot(said: HealthAnswer | undefined): string | undefined {
  const error = said?.errors?.[0];
  return error?.meta?.reasons?.join("; ") ?? error?.detail;
}

/** One line when the instance is ready. Notes about limits that work only in part are printed as well. */
function describe({ status, degraded = [], identity_providers: providers }: HealthAnswer): string {
  const { down, degraded: failing } = providers ?? { down: 0, degraded: 0 };
  return [
    status,
    ...degraded.map((what) => `does not hold in full: ${what}`),
    ...(down + failing > 0 ? [`identity providers: ${down} down, ${failing} have just failed`] : []),
  ].join("\n");
}

function ownUrl(): string {
  const config = readOpenConfig(process.env);
  return ownAddressOf(config, config.operationsPort ?? config.port);
}
