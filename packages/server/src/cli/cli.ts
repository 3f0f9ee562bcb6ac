import { Problem } from "../contract/problem.ts";
import { problemEntry } from "../contract/problems.ts";
import { isOperatorFault, operatorFault } from "../lib/operator-fault.ts";
import { isUnavailable } from "../storage/storage.ts";
import { isHelp, pick } from "./options.ts";

type Run = (args: string[]) => Promise<void>;
/** Only the command that is asked for is loaded: a start is mostly the loading of files. */
type Command = { usage: string; does: string; load(): Promise<Run> };

const commands: Record<string, Command> = {
  dev: {
    usage: "dev [--reset]",
    does: "run everything on this machine, with a first store",
    load: async () => (await import("./dev.ts")).dev,
  },
  serve: {
    usage: "serve [--workers <n>]",
    does: "run the service; `serve --help` lists its configuration",
    load: async () => (await import("./serve.ts")).serve,
  },
  migrate: {
    usage: "migrate",
    does: "bring the database's tables up to date",
    load: async () => (await import("./migrate.ts")).migrateDatabase,
  },
  store: {
    usage: "store create|list|update|delete",
    does: "administer stores",
    load: async () => (await import("./store.ts")).store,
  },
  key: {
    usage: "key create|list|rotate|delete",
    does: "administer a store's application keys",
    load: async () => (await import("./key.ts")).key,
  },
  member: {
    usage: "member add|list|remove",
    does: "administer the people of a store, who sign in at the console",
    load: async () => (await import("./member.ts")).member,
  },
  events: {
    usage: "events verify|tail",
    does: "verify a store's log of events, or follow it",
    load: async () => (await import("./events.ts")).events,
  },
  doctor: {
    usage: "doctor <discovery-url>",
    does: "examine an identity provider against the nine requirements",
    load: async () => (await import("./doctor.ts")).doctor,
  },
  "rotate-keys": {
    usage: "rotate-keys [--signing]",
    does: "seal kept secrets anew with the first master key; replace signing keys",
    load: async () => (await import("./rotate-keys.ts")).rotateKeys,
  },
  "prove-limits": {
    usage: "prove-limits --store <id>",
    does: "flood a store's shared pool and show that reservations hold",
    load: async () => (await import("./prove-limits.ts")).proveLimits,
  },
  backup: {
    usage: "backup <file>",
    does: "copy the SQLite database into a file while the service runs",
    load: async () => (await import("./backup.ts")).backup,
  },
  restore: {
    usage: "restore <file>",
    does: "put a backup into the place of the SQLite database",
    load: async () => (await import("./restore.ts")).restore,
  },
  "after-restore": {
    usage: "after-restore",
    does: "end the tokens and secrets that a backup has brought back",
    load: async () => (await import("./after-restore.ts")).afterRestore,
  },
  openapi: {
    usage: "openapi",
    does: "print the OpenAPI document",
    load: async () => (await import("./openapi.ts")).printOpenapi,
  },
};

const USAGE = `latchkey <command>\n\n${Object.values(commands)
  .map(({ usage, does }) => `  ${usage.padEnd(36)}${does}`)
  .join("\n")}\n\nEach command takes --help.`;

export async function run([name, ...args]: string[]): Promise<void> {
  try {
    if (name === undefined || isHelp(name) || name === "help") {
      console.log(USAGE);
      return;
    }
    const command = pick(commands, name);
    if (!command) throw operatorFault(`there is no command ${JSON.stringify(name)}\n\n${USAGE}`);
    const work = await command.load();
    await work(args);
  } catch (error) {
    process.exitCode = 1;
    console.error(`latchkey: ${inWords(error)}`);
  }
}

/** A fault that somebody can mend is said in words; one of our own making shows where it happened. */
function inWords(error: unknown): string {
  if (error instanceof Problem)
    return error.faults.map(({ code, detail }) => detail ?? problemEntry(code).means).join("\n");
  if (isOperatorFault(error)) return error.message;
  if (isUnavailable(error))
    return `the database does not answer, or is too busy (${(error as Error).message}): run the same command again`;
  const { code, message, stack } = error as Error & { code?: string };
  return code?.startsWith("ERR_PARSE_ARGS") ? message : (stack ?? String(error));
}
