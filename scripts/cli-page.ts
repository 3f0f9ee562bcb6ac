import type { Command } from "../packages/server/src/cli/command.ts";
import { commands } from "../packages/server/src/cli/commands/all.ts";
import { describeOptions, usageOf } from "../packages/server/src/cli/help.ts";

/** Makes docs/cli.md from the table of commands, which `--help` and the parser use. */
export const cliPage =
  (): string => `<!-- Made by \`npm run generate\` from packages/server/src/cli/commands. Do not edit. -->

# The command line

\`npx latchkey <command>\`. \`-h\` or \`--help\` after any command prints its section of this page; \`latchkey --version\` prints the release.

Configuration comes from the environment ([configure.md](configure.md#variables)). An unknown variable that begins with
\`LATCHKEY_\` is named on standard error, with the variable that was probably meant. Commands work beside the running service, which sees a
change within a second. A database that is not the default is named on standard error. \`login\`, \`logout\` and \`token\` need no
database: they work from any machine, with the address of the service.

| exit code | means |
|---|---|
| 0 | done |
| 1 | refused or failed; or the command has found a fault (\`doctor\`, \`events verify\`, \`prove-limits\`, \`health\`) |
| 2 | wrong command line: an unknown command or option, a missing option, an impossible value. Nothing was done |

With \`--json\` a command prints one JSON object on one line of standard output (\`events tail\`: one a line). A resource has the
members of \`data\` in the API's answer ([openapi.json](openapi.json)). Errors are still text on standard error, with the exit codes above.
Lists show 100 rows at a time, or \`--limit\`; \`next\` is the \`--after\` of the next page, and \`null\` at the end.

Commands that destroy data (\`store delete\`, \`key delete\`, \`member remove\`, \`rotate-keys --signing --now\`, \`after-restore --rotate-secrets\`, \`dev --reset\` of a database
that \`dev\` has not made) say what they destroy, and ask for confirmation. Without a terminal they need \`--yes\`; otherwise they change nothing.

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
