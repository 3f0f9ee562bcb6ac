import type { Command, Option } from "./command.ts";

const WIDTH = 120;

/** How a command is typed, on one line. */
export function usageOf({ name, argument, options }: Command): string {
  const words = Object.entries(options).map(([option, described]) => {
    const typed = toTyped(option, described);
    return described.required ? typed : `[${typed}]`;
  });
  return ["latchkey", name, ...(argument ? [argument.value] : []), ...words].join(" ");
}

const toTyped = (name: string, { value }: Option): string => `--${name}${value ? ` ${value}` : ""}`;

/** What a command takes, in rows of two: what is typed, and what it says. */
export function describeOptions({ argument, options }: Command): [string, string][] {
  return [
    ...(argument ? [[argument.value, argument.says] as [string, string]] : []),
    ...Object.entries(options).map(([name, option]): [string, string] => [
      toTyped(name, option),
      `${option.says}${option.default === undefined ? "" : `; ${option.default} unless given`}`,
    ]),
  ];
}

export async function helpOf(command: Command): Promise<string> {
  const notes = command.notes ?? (await command.loadNotes?.());
  const rows = describeOptions(command);
  return [
    wrap(usageOf(command), 4),
    command.does,
    ...(rows.length > 0 ? [columns(rows)] : []),
    ...(notes ? [notes] : []),
  ].join("\n\n");
}

/** What there is of one thing: "store" has create, list, show and more. */
export const helpOfFamily = (family: string, members: readonly Command[]): string =>
  `${members.map((command) => `${wrap(usageOf(command), 4)}\n    ${command.does}`).join("\n\n")}

\`latchkey ${family} <command> --help\` says more of one.`;

export function overview(commands: readonly Command[]): string {
  const families = Map.groupBy(commands, ({ name }) => name.split(" ")[0] as string);
  const rows = [...families].map(([family, members]): [string, string] => {
    const [first] = members;
    if (first?.name === family) return [toShort(first), first.does];
    return [
      `${family} ${members.map(({ name }) => name.slice(family.length + 1)).join("|")}`,
      FAMILIES[family] ?? "",
    ];
  });
  return `latchkey <command>

${columns(rows)}

-h or --help after a command says how it is typed; --version says which release this is.
Exit codes: 0 it was done; 1 it was refused, failed, or what was examined is not as it should be; 2 it was typed wrongly.`;
}

const FAMILIES: Record<string, string> = {
  store: "Administers stores.",
  key: "Administers a store's application keys.",
  member: "Administers a store's members, who sign in at the console.",
  realm: "Shows a store's realms, and adds redirect URIs.",
  profile: "Shows the identity providers of a realm.",
  "sign-on": "Shows what became of sign-ons, and why one failed.",
  events: "Verifies a store's log of events, or follows it.",
};

const toShort = ({ name, argument }: Command): string => (argument ? `${name} ${argument.value}` : name);

function columns(rows: readonly [string, string][]): string {
  const first = Math.max(...rows.map(([left]) => left.length)) + 4;
  return rows.map(([left, right]) => wrap(`  ${left.padEnd(first - 2)}${right}`, first)).join("\n");
}

/** Breaks a long line between words; what follows begins so far in. */
function wrap(line: string, indent: number): string {
  if (line.length <= WIDTH) return line;
  const at = line.lastIndexOf(" ", WIDTH);
  if (at <= indent) return line;
  return `${line.slice(0, at)}\n${wrap(`${" ".repeat(indent)}${line.slice(at + 1)}`, indent)}`;
}
