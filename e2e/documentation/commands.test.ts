import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../../packages/server/src/contract/limits.ts";
import { EVENT_TYPES } from "../../packages/server/src/events/event.ts";
import { LATCHKEY, latchkey } from "../../packages/server/test/support/command.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/** Runs the commands of the documentation, against a service that was started by the documentation's own command. */

const hasCurl = findProgram("curl") !== undefined;

let place: Place;
let running: Running;
let banner: string;

beforeAll(async () => {
  place = await newPlace();
  running = await serve(place, ["dev"]);
  banner = await bannerOf(running);
});
afterAll(async () => {
  running.child.kill("SIGINT");
  expect(await running.exited).toBe(0);
  place.leave();
});

async function bannerOf({ logLines }: Running): Promise<string> {
  await until(() => logLines().some((line) => line.includes("Ctrl-C")));
  return logLines().join("\n");
}

/** The shell blocks of a page that call a service: not those that install or start one. */
function commandsOf(page: string): string {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), "utf8");
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] as string);
  return blocks.filter((block) => /curl|npx latchkey (store|key|member|prove|events)/.test(block)).join("\n");
}

async function run(script: string): Promise<string> {
  const shown = (name: string) => banner.match(new RegExp(`${name}\\s+(\\S+)`))?.[1] ?? "";
  const variables = {
    STORE_ID: shown("store"),
    CLIENT_ID: shown("client id"),
    CLIENT_SECRET: shown("client secret"),
    KEY_ID: shown(" key"),
  };
  const typed = script
    .replaceAll("http://localhost:4000", place.url)
    .replaceAll("npx latchkey", `"${process.execPath}" "${LATCHKEY}"`);
  const env = { PATH: process.env.PATH, ...place.env, ...variables };
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", typed], {
    env,
    cwd: place.folder,
  });
  return stdout;
}

describe.skipIf(!hasCurl)("the commands of", () => {
  test("README.md work as printed", async () => {
    const output = await run(commandsOf("README.md"));
    expect(output).not.toContain('"errors"');
    for (const text of [
      '"client_id":"customers"',
      '"authorization-endpoint":',
      '"customer_id":',
      '"total_reserved_rate_limit":',
      '"reserved_rate_limit":20',
      "application_key_dry_run",
      "PROVEN",
    ])
      expect(output).toContain(text);
  });

  test("docs/guides/members.md work as printed, in a store with two members", async () => {
    const output = await run(commandsOf("docs/guides/members.md"));
    expect(output).not.toContain('"errors"');
    for (const text of [
      /mona@shop\.example +Mona +administrator +invited/,
      /sam@shop\.example +Sam +support +invited/,
      /ada@shop\.example +ada@shop\.example +administrator/,
      /\/console\/sign-in\?store=[\w-]+\n/,
      /"status":"invited"/,
      /"kind":"application_key"/,
    ])
      expect(output).toMatch(text);
  });

  test("docs/guides/export.md work as printed, in a store with this customer", async () => {
    const commands = commandsOf("docs/guides/export.md");
    const [login = ""] = commands.split("\n");
    const ada = '{"data": {"type": "customer", "name": "Ada", "email": "ada@shop.example"}}';
    await run(`${login}
curl -sf http://localhost:4000/v2/customers -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d '${ada}'`);
    const output = await run(`${commands}\ncat customers-*.csv customer-*.json keys.csv`);
    for (const text of [
      "id,type,name,email,",
      ",customer,Ada,ada@shop.example,",
      "specversion,id,source,",
      '{"data":{"type":"customer-export"',
      "id,type,name,client_id,",
    ])
      expect(output).toContain(text);
  });

  test("docs/guides/pages.md work as printed", async () => {
    const output = await run(commandsOf("docs/guides/pages.md"));
    expect(output).toContain('"home_url":"https://shop.example/"');
  });

  test("docs/configure.md work as printed", async () => {
    expect(await run(commandsOf("docs/configure.md"))).toContain("The secret is not shown again.");
  });
});

test("one instance serves what npm start has made, with the key that docs/install.md names", async () => {
  const own = await newPlace();
  const env = { PORT: own.env.PORT as string };
  const first = await serve({ ...own, env }, ["dev"]);
  await bannerOf(first);
  first.child.kill("SIGINT");
  expect(await first.exited).toBe(0);
  const page = readFileSync(new URL("../../docs/install.md", import.meta.url), "utf8");
  const [script = ""] = /export LATCHKEY_MASTER_KEY=[^`]*npx latchkey serve\n/.exec(page) ?? [];
  const typed = script.replace("npx latchkey", `exec "${process.execPath}" "${LATCHKEY}"`);
  const child = spawn("bash", ["-euc", typed], {
    env: { PATH: process.env.PATH, ...env },
    cwd: own.folder,
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const isReady = () => fetch(`${own.url}/health/ready`).then(({ ok }) => ok);
  await until(() => child.exitCode === null && isReady().catch(() => false));
  child.kill("SIGTERM");
  expect(await exited).toBe(0);
  own.leave();
});

test("docs/limits.md has the limits towards identity providers, with the figures of today", () => {
  const page = readFileSync(new URL("../../docs/limits.md", import.meta.url), "utf8");
  const inKilobytes = (bytes: number) => `${bytes / 1024} KB`;
  const inSeconds = (ms: number) => `${ms / 1000} seconds`;
  const rows = {
    "a discovery document": inKilobytes(limits.discoveryBytes),
    "the keys of an identity provider": `${inKilobytes(limits.keysBytes)}, ${limits.keys} keys`,
    "an identity provider's answer to a code, and of UserInfo": inKilobytes(limits.idpAnswerBytes),
    "a request to an identity provider": `${inSeconds(limits.idpCallMs)}, ${limits.idpConnectMs / 1000} of them to connect`,
    "between an identity provider's clock and Latchkey's": `${limits.clockSkewSeconds} seconds`,
    "sign-ons at one identity provider at a time": `${limits.idpInFlight} an instance; others wait for up to ${inSeconds(limits.idpWaitMs)}`,
  };
  for (const [what, limit] of Object.entries(rows)) expect(page).toContain(`| ${what} | ${limit} |`);
});

describe.skipIf(!hasCurl)("docs/guides/webhooks.md", () => {
  test("works as printed", async () => {
    const output = await run(commandsOf("docs/guides/webhooks.md"));
    expect(output).not.toContain('"errors"');
    for (const text of [
      '"signing_secret":"whsec_',
      '"name":"Practice shop"',
      '"type":"integration-test"',
      '"replay":{"after":"0"',
    ])
      expect(output).toContain(text);
    // The store already has an application key, whose secret must stay.
    const rotated = output.slice(output.lastIndexOf('{"data":{"id":'));
    expect(rotated).toMatch(/"name":"Newsletter".*"signing_secret":"whsec_/);
  });
});

describe.skipIf(!hasCurl)("docs/events.md", () => {
  test("works as printed", async () => {
    const output = await run(commandsOf("docs/events.md"));
    expect(output).not.toContain('"errors"');
    for (const text of ['"specversion":"1.0"', '"last_sequence":', '"signature":', "by operator", "whole: "])
      expect(output).toContain(text);
  });

  test("names every event type", () => {
    const page = readFileSync(new URL("../../docs/events.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    const named = rows.flatMap((row) => {
      const cells = [...(row.split("|")[1] ?? "").matchAll(/`([a-z_]*)\.([a-z_]+)`/g)];
      const [first] = cells;
      return cells.map(([, resource, verb]) => `${resource || first?.[1]}.${verb}`);
    });
    // An identity is unlinked by the deletion of its customer alone so far.
    expect(named.sort()).toEqual(
      EVENT_TYPES.filter((type) => type !== "customer.identity_unlinked").toSorted(),
    );
  });
});

test("npm start › a second start keeps store and credentials; --reset starts afresh, unless a service runs", async () => {
  const own = await newPlace();
  const { LATCHKEY_MASTER_KEY: _, ...env } = own.env;
  const started = async (args: string[]) => {
    const again = await serve({ ...own, env }, args);
    const secret = (await bannerOf(again)).match(/lksk_\w+/)?.[0];
    again.child.kill("SIGINT");
    expect(await again.exited).toBe(0);
    return secret;
  };
  const first = await started(["dev"]);
  expect(first).toBeTruthy();
  expect(await started(["dev"])).toBe(first);
  const running = await serve({ ...own, env }, ["dev"]);
  await bannerOf(running);
  const refused = await latchkey(["dev", "--reset"], env);
  expect(refused.stderr).toContain("another latchkey already serves");
  running.child.kill("SIGINT");
  await running.exited;
  expect(await started(["dev"])).toBe(first);
  expect(await started(["dev", "--reset"])).not.toBe(first);
  own.leave();
}, 180_000);
