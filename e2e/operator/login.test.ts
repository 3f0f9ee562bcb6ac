import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createAdmin } from "@latchkey/sdk/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LATCHKEY, latchkey, WATCHED } from "../../packages/server/test/support/command.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";
import { walkAs } from "../support/walk-as.ts";

/** A member signs in with the command line: the real program, the real service, the practice provider. */

let place: Place;
let running: Running;

beforeAll(async () => {
  place = await newPlace();
  running = await serve(place, ["dev"]);
  await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
});
afterAll(async () => {
  running.child.kill("SIGINT");
  await running.exited;
  place.leave();
});

const env = () => ({ XDG_CONFIG_HOME: join(place.folder, "config") });
const file = () => join(env().XDG_CONFIG_HOME, "latchkey", "session.json");
const type = (...args: string[]) => latchkey(args, env());

/** Starts `latchkey login`; `address` is where the person signs in. */
async function begin(...args: string[]) {
  const child = spawn(process.execPath, [LATCHKEY, "login", ...args, "--no-browser"], {
    env: { PATH: process.env.PATH, ...WATCHED, ...env() },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const finished = async () => ({ code: await exited, stdout, stderr });
  let address = "";
  await until(() => {
    address = /^ {2}(http\S+)$/m.exec(stderr)?.[1] ?? "";
    return address !== "" || child.exitCode !== null;
  });
  return {
    address,
    redirectUri: new URLSearchParams(address.split("?")[1]).get("redirect_uri") ?? "",
    finished,
  };
}

describe("latchkey login", () => {
  test("signs a member in, keeps the token for this user alone; logout ends the token", async () => {
    const { address, redirectUri, finished } = await begin(place.url, "--json");
    expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const answer = await fetch(await walkAs("mona", address, redirectUri));
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining("Return to the terminal"),
    ]);
    const { code, stdout } = await finished();
    const shown = JSON.parse(stdout);
    expect([code, shown.url, shown.store.name]).toEqual([0, place.url, "Practice store"]);
    expect(stdout).not.toContain("access_token");
    expect(statSync(file()).mode & 0o777).toBe(0o600);

    const token = await type("token");
    expect(token.code).toBe(0);
    const accessToken = token.stdout.trim();
    const admin = createAdmin({ baseUrl: place.url, accessToken: () => accessToken });
    const { data: me } = await admin.me();
    expect([me.kind, me.name, me.role]).toEqual(["member", shown.name, shown.role]);

    const out = await type("logout");
    expect([out.code, out.stdout]).toEqual([0, "You are signed out of Practice store.\n"]);
    expect(existsSync(file())).toBe(false);
    await expect(admin.me()).rejects.toMatchObject({ status: 401 });
    const none = await type("token");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("latchkey login <url>")]);
    expect((await type("logout")).stdout).toBe("You were not signed in.\n");
    expect((await type("logout", "--json")).stdout).toBe('{"signed_out_of":null}\n');
  });

  test("a person who is no member is refused, with the reference of the record", async () => {
    const { address, redirectUri, finished } = await begin(place.url);
    const answer = await fetch(await walkAs("ada", address, redirectUri));
    expect(await answer.text()).toContain("The sign-in failed");
    const { code, stderr } = await finished();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/the sign-in failed: .*\(reference [\w-]{9}\)/),
    ]);
    expect(existsSync(file())).toBe(false);
  });

  test("an answer with another state changes nothing; the right one still signs in", async () => {
    const { address, redirectUri, finished } = await begin(place.url);
    expect((await fetch(`${redirectUri}?state=stranger&code=lkac_x`)).status).toBe(400);
    await fetch(await walkAs("mona", address, redirectUri));
    const { code, stdout } = await finished();
    expect([code, stdout]).toEqual([0, expect.stringContaining("You are signed in at Practice store as ")]);
    expect(readFileSync(file(), "utf8")).toContain("access_token");
    await type("logout");
  });

  test("at another name of the same service names the right one", async () => {
    const { code, stderr } = await type("login", place.url.replace("localhost", "127.0.0.1"));
    expect([code, stderr]).toEqual([1, expect.stringContaining(`latchkey login ${place.url}`)]);
  });

  test("with a store that has no members, and at an address without a service, says so", async () => {
    const store = await type("login", place.url, "--store", "01890000-0000-7000-8000-000000000000");
    expect([store.code, store.stderr]).toEqual([1, expect.stringContaining("latchkey member add")]);
    const nowhere = await type("login", "http://127.0.0.1:1");
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining("no service answers")]);
  });

  test.each([
    ["keys.example", "must be the service's address"],
    ["http://keys.example", "must begin with https://"],
    ["https://keys.example/?store=x", "without a query"],
    ["https://ada@keys.example", "without a query, a fragment or a user"],
  ])("2 for %s", async (url, says) => {
    const { code, stderr } = await type("login", url);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});
