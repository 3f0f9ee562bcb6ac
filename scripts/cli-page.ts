import type { Command } from "../packages/server/src/cli/command.ts";
import { commands } from "../packages/server/src/cli/commands/all.ts";
import { describeOptions, usageOf } from "../packages/server/src/cli/help.ts";

/** Makes docs/cli.md from the table of commands, which `--help` and the parser use. */
export const cliPage =
  (): string => `<!-- Made by \`npm run generate\` from packages/server/src/cli/commands. Do not edit. -->

# The command line

\`npx latchkey <command>\`. \`-h\` or \`--help\` after any command says what is here; \`latchkey --version\` says which release it is.

Configuration comes from the environment ([configure.md](configure.md#variables)). A variable that begins with \`LATCHKEY_\` and is
not known is named on standard error, with the one that was probably meant. Commands work beside the running service, which sees a
change within a second. A database that is not the default is named on standard error.

| exit code | means |
|---|---|
| 0 | it was done |
| 1 | it was refused or failed; or what was examined is not as it should be (\`doctor\`, \`events verify\`, \`prove-limits\`, \`health\`) |
| 2 | it was typed wrongly: no such command or option, one that is missing, a value that cannot be. Nothing was done |

With \`--json\` a command prints one JSON object on one line of standard output (\`events tail\`: one a line). What it shows of a resource are the
members of \`data\` in the API's answer ([openapi.json](openapi.json)). Faults are words on standard error all the same, and the exit
code says so. Lists show 100 at a time, or \`--limit\`; \`next\` is what \`--after\` takes to go on, and \`null\` at the end.

What destroys something (\`store delete\`, \`key delete\`, \`member remove\`, \`rotate-keys --signing --now\`, \`after-restore --rotate-secrets\`, \`dev --reset\` of a database
that \`dev\` has not made) says what, and asks. Where there is no terminal it wants \`--yes\`, and changes nothing without.

${commands.map(section).join("\n")}`;

function section(command: Command): string {
  const rows = describeOptions(command).map(([typed, says]) => `| \`${typed}\` | ${escaped(says)} |`);
  return `## ${command.name}

${escaped(command.does)}

\`\`\`text
${usageOf(command)}
\`\`\`
${rows.length > 0 ? `\n| | |\n|---|---|\n${rows.join("\n")}\n` : ""}${command.notes ? `\n${escaped(command.notes)}\n` : ""}`;
}

/** Escapes `<name>`, which Markdown would read as an HTML element. */
const escaped = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/<([\w-]+)>/g, "&lt;$1&gt;");
