import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createStorefront } from "@latchkey/sdk";
import { beginMemberSignOn, completeMemberSignOn, createAdmin, findMemberSignIn } from "@latchkey/sdk/admin";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { postgresEngine } from "../../packages/server/test/support/engines.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";
import { walkAs } from "../support/walk-as.ts";

/** `latchkey dev` keeps a practice store from one start to the next, beside its database. */

let place: Place;
let running: Running | undefined;

beforeEach(async () => {
  place = await newPlace();
});
afterEach(async () => {
  running?.child.kill("SIGKILL");
  await running?.exited;
  running = undefined;
  place.leave();
});

const filesOf = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "latin1")]));

describe("latchkey dev", () => {
  test("a second start beside a running one changes no file", async () => {
    const { LATCHKEY_MASTER_KEY: _, ...env } = place.env;
    running = await serve({ ...place, env }, ["dev"]);
    await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
    const before = filesOf(place.folder);
    const { PORT: __, ...anyPort } = env;
    const { code, stderr } = await latchkey(["dev"], anyPort, place.folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("another latchkey already serves")]);
    const after = filesOf(place.folder);
    expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
    for (const file of ["first-store.json", "master.key", "ports.json"]) {
      expect(before[file], file).toBeTruthy();
      expect(after[file], file).toBe(before[file]);
    }
  });

  test.skipIf(!postgresEngine.isHere)(
    "a second start beside a running one on PostgreSQL is refused too, and changes no file",
    async () => {
      const database = await postgresEngine.create();
      const { LATCHKEY_MASTER_KEY: _, ...others } = place.env;
      const env: Record<string, string> = { ...others, LATCHKEY_DATABASE_URL: database.url };
      running = await serve({ ...place, env }, ["dev"]);
      await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
      expect(running.logLines().find((line) => line.includes("Ctrl-C"))).toMatch(/Data is kept\.$/);
      const data = join(place.folder, "data");
      const before = filesOf(data);
      expect(Object.keys(before).filter((name) => name.endsWith("ports.json"))).toHaveLength(1);
      const { PORT: __, ...anyPort } = env;
      const { code, stderr } = await latchkey(["dev"], anyPort, place.folder);
      expect([code, stderr]).toEqual([1, expect.stringContaining("another latchkey already serves")]);
      expect(filesOf(data)).toEqual(before);
      running.child.kill("SIGINT");
      await running.exited;
      await database.drop();
    },
  );

  test("another database of the folder, and --reset of it, leave the files of the default database unchanged", async () => {
    const { LATCHKEY_MASTER_KEY: _, ...env } = place.env;
    const files = ["first-store.json", "master.key", "ports.json"];
    for (const file of files) writeFileSync(join(place.folder, file), "{}");
    const other = { ...env, LATCHKEY_DATABASE_URL: `sqlite:${join(place.folder, "other.db")}` };
    running = await serve({ ...place, env: other }, ["dev", "--reset"]);
    await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
    const kept = filesOf(place.folder);
    for (const file of files) {
      expect(kept[file], file).toBe("{}");
      expect(kept[`other.db.${file}`], file).toBeTruthy();
      expect(statSync(join(place.folder, `other.db.${file}`)).mode & 0o777, file).toBe(0o600);
    }
  });

  test.each([
    ["ports.json", "", "Delete it, and free ports are chosen"],
    ["ports.json", '{"service":"4000","idp":4001,"shop":4002}', "Delete it, and free ports are chosen"],
    ["first-store.json", '{"storeId":', "Delete it, and another practice store is made"],
    ["first-store.json", "{}", "Delete it, and another practice store is made"],
    ["master.key", "", "Put it back from a copy"],
    ["master.key", "half-a-key", "Put it back from a copy"],
  ])(
    "reports that %s is damaged where it is %j, with the remedy, and does not change it",
    async (name, text, words) => {
      const { LATCHKEY_MASTER_KEY: _, ...env } = place.env;
      const file = join(place.folder, name);
      writeFileSync(file, text);
      const { code, stdout, stderr } = await latchkey(["dev"], env, place.folder);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(`${file} is damaged`);
      expect(stderr).toContain(words);
      expect(stderr).toContain("`latchkey dev --reset` begins anew");
      expect(stderr).not.toContain("    at ");
      expect(readFileSync(file, "utf8")).toBe(text);
    },
  );

  test.each(["ports.json", "master.key"])(
    "does not advise --reset where %s of a PostgreSQL is damaged",
    async (name) => {
      mkdirSync(join(place.folder, "data"));
      writeFileSync(join(place.folder, "data", `postgres-x.${name}`), "");
      const env = { LATCHKEY_DATABASE_URL: "postgres://127.0.0.1:1/x" };
      const { code, stderr } = await latchkey(["dev"], env, place.folder);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`postgres-x.${name} is damaged`)]);
      expect(stderr).toContain("a database of another name begins anew");
      expect(stderr).not.toContain("--reset");
    },
  );

  test("on other ports than last time recognises everyone who has signed in, at the shop and at the console", async () => {
    const starts = async (port: string) => {
      const url = `http://localhost:${port}`;
      running = await serve({ ...place, url, env: { ...place.env, PORT: port } }, ["dev"]);
      await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
      const banner = running.logLines().join("\n");
      const [, shop = ""] = /shop +(http\S+)/.exec(banner) ?? [];
      const [, clientId = ""] = /client id +(lkid_\w+)/.exec(banner) ?? [];
      const kept = new Map<string, string>();
      const storage = {
        getItem: (name: string) => kept.get(name) ?? null,
        setItem: (name: string, value: string) => void kept.set(name, value),
        removeItem: (name: string) => void kept.delete(name),
      };
      const storefront = createStorefront({ baseUrl: url, clientId, storage });
      const [provider] = await storefront.listProviders();
      const leaving = await storefront.beginSignOn(provider, { redirectUri: `${shop}/signed-in` });
      const { customerId } = await storefront.completeSignOn(await walkAs("ada", leaving.url, shop));
      const { storeId = "", realmId = "" } = (await findMemberSignIn({ baseUrl: url }, {})) ?? {};
      const console = { storeId, realmId, redirectUri: `${url}/console/signed-in` };
      const member = await beginMemberSignOn({ baseUrl: url, storage }, console);
      const returned = await walkAs("mona", member.url, console.redirectUri);
      const { accessToken } = await completeMemberSignOn({ baseUrl: url, storage }, returned);
      const { data: me } = await createAdmin({ baseUrl: url, accessToken: () => accessToken }).me();
      running.child.kill("SIGINT");
      await running.exited;
      return { customerId, memberId: me.id };
    };
    const before = await starts(String(await freePort()));
    const { idp } = JSON.parse(readFileSync(join(place.folder, "ports.json"), "utf8"));
    const squatter = createServer().listen(idp, "127.0.0.1");
    await once(squatter, "listening");
    expect(await starts(String(await freePort()))).toEqual(before);
    squatter.close();
  });

  test("chooses other ports for provider and shop when PORT or LATCHKEY_OPERATIONS_PORT takes theirs", async () => {
    const operationsPort = await freePort();
    const kept = { service: await freePort(), idp: Number(place.env.PORT), shop: operationsPort };
    writeFileSync(join(place.folder, "ports.json"), JSON.stringify(kept));
    const env = { ...place.env, LATCHKEY_OPERATIONS_PORT: String(operationsPort) };
    const operationsUrl = `http://localhost:${operationsPort}`;
    running = await serve({ ...place, env }, ["dev"], "pipe", { operationsUrl });
    await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
    const { service, idp, shop } = JSON.parse(readFileSync(join(place.folder, "ports.json"), "utf8"));
    expect(new Set([service, operationsPort, idp, shop]).size).toBe(4);
  });

  test("finds its practice provider and its webhook after they were renamed, and creates no second ones", async () => {
    const start = async () => {
      running = await serve(place, ["dev"]);
      await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
      const kept = JSON.parse(readFileSync(join(place.folder, "first-store.json"), "utf8"));
      const admin = createAdmin({ baseUrl: place.url, ...kept });
      return [admin.profiles((await admin.settings.get()).data.realm_id), admin.integrations] as const;
    };
    for (const of of await start()) {
      const [made] = (await of.list()).data;
      await of.update(made?.id ?? "", { name: "Our own" });
    }
    running?.child.kill("SIGINT");
    await running?.exited;
    for (const of of await start())
      expect((await of.list()).data.map(({ name }: { name: string }) => name)).toEqual(["Our own"]);
  });

  test("links its pages to the shop's current address, and to an address that an administrator has chosen", async () => {
    const [one, other] = [await freePort(), await freePort()];
    const [service, idp] = [await freePort(), await freePort()];
    const start = async (shop: number, chosen?: string) => {
      writeFileSync(join(place.folder, "ports.json"), JSON.stringify({ service, idp, shop }));
      running = await serve(place, ["dev"]);
      await until(() => running?.logLines().some((line) => line.includes("Ctrl-C")));
      const kept = JSON.parse(readFileSync(join(place.folder, "first-store.json"), "utf8"));
      const admin = createAdmin({ baseUrl: place.url, ...kept });
      const { realm_id } = (await admin.settings.get()).data;
      const { home_url } = (await admin.realms.get(realm_id)).data;
      if (chosen) await admin.realms.update(realm_id, { home_url: chosen });
      running?.child.kill("SIGINT");
      await running?.exited;
      return home_url;
    };
    expect(await start(one)).toBe(`http://localhost:${one}/`);
    expect(await start(other)).toBe(`http://localhost:${other}/`);
    const chosen = "https://shop.example/";
    expect(await start(one, chosen)).toBe(`http://localhost:${one}/`);
    expect(await start(other)).toBe(chosen);
  });

  test("ends with an explanation when its shop cannot be set up because LATCHKEY_PUBLIC_URL leads elsewhere", async () => {
    const elsewhere = `http://localhost:${await freePort()}`;
    const env = { ...place.env, LATCHKEY_PUBLIC_URL: elsewhere };
    const { code, stderr } = await latchkey(["dev"], env, place.folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`at ${elsewhere} (LATCHKEY_PUBLIC_URL)`)]);
    expect(stderr).not.toContain("    at ");
  });

  test("ends when its files beside the database cannot be written, and leaves no service running", async () => {
    mkdirSync(join(place.folder, "ports.json.part"));
    const { code, stderr } = await latchkey(["dev"], place.env, place.folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("ports.json.part")]);
  });

  test("--reset is refused on PostgreSQL, with the reason, and changes nothing", async () => {
    const env = { LATCHKEY_DATABASE_URL: "postgres://127.0.0.1:1/x" };
    const { code, stderr } = await latchkey(["dev", "--reset"], env, place.folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("does not reset a PostgreSQL")]);
    expect(readdirSync(place.folder)).toEqual([]);
  });
});
