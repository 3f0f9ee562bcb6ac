import type { Command, Option } from "./command.ts";

const WIDEST = 120;

/** Lines break between words, before the edge of a narrow terminal. */
const widthOf = ({ columns }: { columns?: number }): number => Math.min(WIDEST, columns || WIDEST);

/** The usage of a command, on one line. */
export function usageOf({ name, argument, options }: Command): string {
  const words = Object.entries(options).map(([option, described]) => {
    const typed = toTyped(option, described);
    return described.required ? typed : `[${typed}]`;
  });
  return ["latchkey", name, ...(argument ? [argument.value] : []), ...words].join(" ");
}

const toTyped = (name: string, { value }: Option): string => `--${name}${value ? ` ${value}` : ""}`;

/** The arguments of a command in two columns: its form, and its explanation. */
export function describeOptions({ argument, options }: Command): [string, string][] {
  return [
    ...(argument ? [[argument.value, argument.says] as [string, string]] : []),
    ...Object.entries(options).map(([name, option]): [string, string] => [
      toTyped(name, option),
      `${option.says}${option.default === undefined ? "" : `; ${option.default} unless given`}`,
    ]),
  ];
}

export async function helpOf(command: Command, width = widthOf(process.stdout)): Promise<string> {
  const notes = command.notes ?? (await command.loadNotes?.());
  const rows = describeOptions(command);
  return [
    wrap(usageOf(command), 4, width),
    wrap(command.does, 0, width),
    ...(rows.length > 0 ? [columns(rows, width)] : []),
    ...(notes ? [flow(notes, width)] : []),
  ].join("\n\n");
}

/** All commands of one thing: "store" has create, list, show and more. */
export const helpOfFamily = (
  family: string,
  members: readonly Command[],
  width = widthOf(process.stdout),
): string =>
  `${members.map((command) => `${wrap(usageOf(command), 4, width)}\n${wrap(`    ${command.does}`, 4, width)}`).join("\n\n")}

\`latchkey ${family} <command> --help\` describes one command.`;

export function overview(commands: readonly Command[], width = widthOf(process.stdout)): string {
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

${columns(rows, width)}

${wrap("-h or --help after a command shows its options; --version shows the release.", 0, width)}
${wrap("Exit codes: 0 success; 1 the command was refused or failed, or a check did not pass; 2 wrong arguments.", 0, width)}`;
}

const FAMILIES: Record<string, string> = {
  store: "Administers stores.",
  key: "Administers a store's application keys.",
  member: "Administers a store's members, who sign in at the console.",
  realm: "Shows a store's realms, and adds redirect URIs.",
  profile: "Shows the identity providers of a realm.",
  integration: "Enables webhooks that a restore has disabled.",
  "setup-link": "Administers links to the page for a provider's administrator.",
  "sign-on": "Shows the records of sign-ons, and why one failed.",
  events: "Verifies a store's log of events, or follows it.",
};

const toShort = ({ name, argument }: Command): string => (argument ? `${name} ${argument.value}` : name);

function columns(rows: readonly [string, string][], width: number): string {
  const first = Math.max(...rows.map(([left]) => left.length)) + 4;
  return rows.map(([left, right]) => wrap(`  ${left.padEnd(first - 2)}${right}`, first, width)).join("\n");
}

/** Paragraphs are wrapped again; indented lines stay as they are. */
const flow = (text: string, width: number): string =>
  text
    .replaceAll(/(?<=\S)\n(?=\S)/g, " ")
    .split("\n")
    .map((line) => wrap(line, /^ *(\d\. )?/.exec(line)?.[0].length ?? 0, width))
    .join("\n");

/** Wraps a long line between words, and indents its continuation. */
function wrap(line: string, indent: number, width: number): string {
  if (line.length <= width) return line;
  const at = line.lastIndexOf(" ", width);
  if (at <= indent) return line;
  return `${line.slice(0, at)}\n${wrap(`${" ".repeat(indent)}${line.slice(at + 1)}`, indent, width)}`;
}
