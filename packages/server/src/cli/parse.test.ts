import { describe, expect, test } from "vitest";
import { limits } from "../contract/limits.ts";
import { newId } from "../lib/ids.ts";
import { isUsageFault } from "../lib/operator-fault.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands/all.ts";
import { helpOf, helpOfFamily, overview, usageOf } from "./help.ts";
import { readWhole } from "./options.ts";
import { parse } from "./parse.ts";
import { unknownVariables } from "./unknown-variables.ts";

const find = (name: string) => commands.find((command) => command.name === name) as Command;

/** What it says when it is typed so. */
function fault(name: string, ...args: string[]): string {
  try {
    parse(find(name), args);
  } catch (error) {
    expect(isUsageFault(error)).toBe(true);
    return (error as Error).message;
  }
  return "";
}

describe("every command", () => {
  test.each(commands.map((command) => [command.name, command] as const))(
    "%s has help, describes each option, and can be loaded",
    async (name, command) => {
      for (const asked of ["-h", "--help"]) expect(parse(command, [asked])).toBeUndefined();
      const help = await helpOf(command);
      expect(help).toContain(`latchkey ${name}`);
      for (const option of Object.keys(command.options)) expect(help).toContain(`--${option}`);
      expect(command.does).toMatch(/\.$/);
      expect(await command.load()).toBeTypeOf("function");
      // With a sentence behind the arguments.
      expect(overview(commands)).toMatch(new RegExp(`^  ${name.split(" ")[0]}\\b.* {2,}[A-Z]`, "m"));
    },
  );

  test("has a name of its own, and takes --json unless it serves, or prints a document anyway", () => {
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
    const without = commands.filter(({ options }) => !("json" in options)).map(({ name }) => name);
    expect(without).toEqual(["dev", "serve", "openapi"]);
  });

  test("that lists has --limit and --after, and one that deletes has --yes", () => {
    for (const { name, options } of commands) {
      if (name.endsWith(" list"))
        expect(Object.keys(options), name).toEqual(expect.arrayContaining(["limit", "after"]));
      if (name.endsWith(" delete")) expect(Object.keys(options), name).toContain("yes");
    }
  });
});

describe("arguments", () => {
  test("are read in any order; absent ones have their defaults", () => {
    expect(parse(find("sign-on show"), ["--json", "7k2p", "--store=x"])).toEqual({
      argument: "7k2p",
      store: "x",
      json: true,
    });
    expect(parse(find("key create"), ["--name", "n", "--store", "x"])).toEqual({
      store: "x",
      name: "n",
      reserve: "0",
      role: "administrator",
      "openid-client": "pkce",
      json: false,
    });
  });

  test.each([
    [["key update", "--stor", "x"], "there is no option --stor; did you mean --store?"],
    [["key update", "-x"], "there is no option -x; there is --store, --id"],
    [["key update", "--id", "x"], "--store is required"],
    [["key update", "-id", "x"], "there is no option -id; did you mean --id?"],
    [["key update", "--reserv=5"], "there is no option --reserv; did you mean --reserve?"],
    [["key update", "--store", "x", "--id"], "--id needs a value <key>: the key's id"],
    [["key update", "--store", "--id", "x"], 'value <store>: "--id" looks like an option'],
    [["key update", "--name", "-x"], "If it is the value, write --name=-x"],
    [["key update", "--store", "x", "--id", "y", "--json=yes"], '--json takes no value: leave out "=yes"'],
    [["store delete", "--id", "x", "--id=y"], "--id is given more than once"],
    [["key update", "x"], '"x" is one word too many'],
    [["doctor"], "<discovery-url> is missing"],
    [["store show", " "], "<store> is missing: the store's id"],
    [["key list", "--store="], "--store is empty: the store's id"],
    [["doctor", "a", "b"], '"b" is one word too many'],
  ])("%j is refused, with the reason and the place of the help", (args, words) => {
    const said = fault(...(args as [string, ...string[]]));
    expect(said).toContain(words);
    expect(said).toContain(`\`latchkey ${args[0]} --help\``);
  });

  test("a value may begin with a dash if it is a number or follows an equals sign", () => {
    expect(parse(find("store list"), ["--limit", "-5"])).toMatchObject({ limit: "-5" });
    expect(parse(find("store create"), ["--name=-x"])).toMatchObject({ name: "-x" });
  });

  test("--help works also in the place of a value", () => {
    expect(parse(find("store list"), ["--limit", "--help"])).toBeUndefined();
    expect(parse(find("store list"), ["--limit", "-h"])).toBeUndefined();
  });

  test("an id may have blanks around it, or capitals; other text is unchanged", () => {
    const id = newId();
    const typed = ` ${id.toUpperCase()}\n`;
    expect(parse(find("key show"), [typed, "--store", typed])).toMatchObject({ argument: id, store: id });
    expect(parse(find("sign-on show"), [typed])).toMatchObject({ argument: id });
    expect(parse(find("sign-on list"), ["--customer", typed])).toMatchObject({ customer: id });
    expect(parse(find("store create"), ["--name", typed])).toMatchObject({ name: typed });
    expect(parse(find("store show"), [" X "])).toMatchObject({ argument: " X " });
  });

  test("a reference may contain spaces", () => {
    const typed = ["7k2p", "--json", "m0xn"];
    expect(parse(find("sign-on show"), typed)).toMatchObject({ argument: "7k2p m0xn", json: true });
    expect(fault("sign-on show")).toContain("<reference> is missing");
  });

  test("a line of usage shows required parts, and optional parts in brackets", () => {
    expect(usageOf(find("store delete"))).toBe("latchkey store delete --id <store> [--yes] [--json]");
    expect(usageOf(find("backup"))).toBe("latchkey backup <file> [--json]");
  });
});

describe("a whole number", () => {
  test.each([
    ["0", 0, limits.graceSeconds],
    ["2592000", 0, limits.graceSeconds],
    ["1000000", 1, undefined],
    ["9007199254740991", 0, Number.MAX_SAFE_INTEGER],
  ])("%s is accepted from %d to %d", (text, min, max) => {
    expect(readWhole(text, "--n", min, max)).toBe(Number(text));
  });

  test.each([
    ["2592001", 0, limits.graceSeconds],
    ["1000001", 1, undefined],
    ["0", 1, 10],
    ["9007199254740992", 0, Number.MAX_SAFE_INTEGER],
    ["1e3", 0, 10_000],
    ["", 0, 10],
  ])("%j is refused from %d to %d", (text, min, max) => {
    expect(() => readWhole(text, "--n", min, max)).toThrow("--n must be a whole number from");
  });
});

test("help breaks between words at the edge of a terminal of 80 columns, and at 120 at the latest", async () => {
  for (const width of [80, 120]) {
    const texts = await Promise.all(commands.map((command) => helpOf(command, width)));
    for (const text of [...texts, overview(commands, width), helpOfFamily("key", commands, width)])
      expect(text.split("\n").filter((line) => line.length > width)).toEqual([]);
  }
});

test("help has all words of the notes, whatever the width", async () => {
  for (const command of commands) {
    const notes = command.notes ?? (await command.loadNotes?.()) ?? "";
    const toWords = (text: string) => text.split(/\s+/).join(" ");
    expect(toWords(await helpOf(command, 80))).toContain(toWords(notes));
  }
});

describe("a variable that looks like one of Latchkey and is not", () => {
  test.each([
    ["LATCHKEY_DATABSE_URL", "LATCHKEY_DATABASE_URL"],
    ["LATCHKEY_DATABASE", "LATCHKEY_DATABASE_URL"],
    ["LATCHKEY_MASTERKEY", "LATCHKEY_MASTER_KEY"],
    ["LATCH_KEY_PUBLIC_URL", "LATCHKEY_PUBLIC_URL"],
    ["latchkey_log_level", "LATCHKEY_LOG_LEVEL"],
    ["LATCHKEY_PORT", "PORT"],
  ])("%s is named, with the suggestion %s", (name, meant) => {
    const [words = ""] = unknownVariables({ [name]: "5000" });
    expect(words).toContain(`the variable ${name} `);
    expect(words).toContain(`did you mean ${meant}?`);
    expect(words).not.toContain("5000");
  });

  test("is named even without a similar name; variables that Kubernetes sets are not", () => {
    expect(unknownVariables({ LATCHKEY_COLOUR: "red" })).toEqual([
      "the variable LATCHKEY_COLOUR has no meaning here",
    ]);
    const set = {
      LATCHKEY_SERVICE_HOST: "10.0.0.1",
      LATCHKEY_SERVICE_PORT: "4000",
      LATCHKEY_SERVICE_PORT_HTTP: "4000",
      LATCHKEY_PORT: "tcp://10.0.0.1:4000",
      LATCHKEY_PORT_4000_TCP: "tcp://10.0.0.1:4000",
      LATCHKEY_PORT_4000_TCP_ADDR: "10.0.0.1",
      LATCHKEY_LOG_LEVEL: "info",
      PATH: "/bin",
    };
    expect(unknownVariables(set)).toEqual([]);
  });
});
