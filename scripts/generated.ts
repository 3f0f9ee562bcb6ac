import { sql } from "kysely";
import { type KnownProvider, knownProviders } from "../packages/server/src/contract/known-providers.ts";
import { openapiDocument } from "../packages/server/src/contract/openapi.ts";
import { problemsOf } from "../packages/server/src/contract/operation.ts";
import { operations } from "../packages/server/src/contract/operations.ts";
import {
  type ProblemCode,
  problemEntry,
  problems,
  titles,
} from "../packages/server/src/contract/problems.ts";
import { signOnReasons } from "../packages/server/src/contract/sign-on-reasons.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { migrate, migrations } from "../packages/server/src/storage/migrate.ts";
import { connectStorage } from "../packages/server/src/storage/open.ts";
import type { Storage } from "../packages/server/src/storage/storage.ts";
import { cliPage } from "./cli-page.ts";
import { pagesWithExamples } from "./example-blocks.ts";
import { sdkTypes } from "./sdk-types.ts";

/** The generated files by path. `npm run generate` writes them; a test fails if a file is out of date. */
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    "docs/openapi.json": `${JSON.stringify(openapiDocument("http://localhost:4000"), null, 2)}\n`,
    "docs/errors.md": errorsPage(),
    "docs/cli.md": cliPage(),
    "packages/sdk/src/contract.ts": sdkTypes(),
    ...(await ofMigrations()),
    ...recipes(),
    ...pagesWithExamples(),
  };
}

/** A page for each known identity provider. */
const recipes = (): Record<string, string> =>
  Object.fromEntries(
    knownProviders.map((provider) => [`docs/guides/providers/${provider.key}.md`, recipeOf(provider)]),
  );

function recipeOf({ name, seen, issuer, steps, answers, attention, console }: KnownProvider): string {
  const isRun =
    seen === null
      ? "from the provider's documentation"
      : `answers: recorded from ${name} ${seen}, and replayed by tests; what to enter: from the provider's documentation`;
  const needs = Object.entries(attention).map(([id, text]) => `| ${id} | ${text} |`);
  const places = Object.entries(console).map(([topic, place]) => `| ${topic.replace("_", " ")} | ${place} |`);
  return `<!-- Made by \`npm run generate\` from packages/server/src/contract/known-providers.ts. Do not edit. -->

# ${name}

*${isRun}*

[Connect your own identity provider](../connect-your-identity-provider.md) describes every step; this page has the words of ${name}.

Issuer: ${issuer}.

## What to enter there

${steps.map((step, index) => `${index + 1}. ${withLinks(step)}`).join("\n")}

## What its answers look like

${answers.map((answer) => `- ${answer}`).join("\n")}

## Which requirements need attention

| | what to do |
|---|---|
${needs.join("\n")}

The other requirements need no settings.

## Where to find each setting

| about | where |
|---|---|
${places.join("\n")}
`;
}

/** The addresses of a step are links of a profile, which a reader of the page takes from its answer. */
const withLinks = (step: string): string =>
  step
    .split("`")
    .map((part, at) =>
      part.replaceAll(
        /\{([a-z-]+)\}/g,
        at % 2 === 1 ? "<$1-endpoint link>" : "the profile's `$1-endpoint` link",
      ),
    )
    .join("`");

function errorsPage(): string {
  const codes = Object.keys(problems) as ProblemCode[];
  const byStatus = [...Map.groupBy(codes, (code) => problemEntry(code).status)].sort(([a], [b]) => a - b);
  const sections = byStatus.map(([status, ofStatus]) => {
    const entries = ofStatus.map((code) => {
      const { means, remedy, oauth } = problemEntry(code);
      const users = operations
        .filter((operation) => problemsOf(operation).includes(code))
        .map(({ id }) => `\`${id}\``);
      const where = users.length > 0 ? `\n\nAnswered by: ${users.join(", ")}.` : "";
      const atOauth = oauth ? `\n\nAt the OAuth endpoints: \`error\` is \`${oauth}\`.` : "";
      return `### ${code}\n\n${means} ${remedy}${atOauth}${where}\n`;
    });
    return `## ${status} ${titles[status]}\n\n${entries.join("\n")}`;
  });
  return `<!-- Made by \`npm run generate\` from packages/server/src/contract/problems.ts. Do not edit. -->

# Errors

Every refusal has this form. There is one entry for each fault found, and all faults are found at once, up to a hundred.

\`\`\`json
{
  "errors": [
    {
      "status": "404",
      "code": "application_key_not_found",
      "title": "Not Found",
      "detail": "There is no application key with this id.",
      "links": { "about": "http://localhost:4000/errors/application_key_not_found" },
      "id": "01890000-0000-7000-8000-000000000000"
    }
  ]
}
\`\`\`

\`links.about\` is the page of this error, which the service serves from the same table as this document.
\`code\` is stable: programs should look at it. \`detail\` is for people and may change. \`source\` points at the fault:
\`pointer\` into the body, \`parameter\` of the query, or \`header\`. \`meta\` holds figures that help to decide what to do.
\`id\` is the request id, which is also in the \`X-Request-Id\` field and in the service's log. The OAuth endpoints answer
with \`error\`, \`error_description\` and \`error_uri\` (RFC 6749 5.2) and carry \`errors\` beside them.

${sections.join("\n")}

## Why a sign-on failed

The record of a sign-on (\`GET /v2/sign-ons\`) has one of these as its \`reason\`; so has \`meta.reason\` of
\`sign_on_refused\`. The storefront is told the \`error\`, in the redirect, with the record's \`reference\`. A refusal
that was shown as a page has the code of its problem above.

| reason | error | what it means | what to do |
|---|---|---|---|
${reasonRows()}
`;
}

const reasonRows = (): string =>
  Object.entries(signOnReasons)
    .map(([reason, { error, means, remedy }]) => `| \`${reason}\` | \`${error}\` | ${means} | ${remedy} |`)
    .join("\n");

const FROM_MIGRATIONS = "// Made by `npm run generate` from the migrations. Do not edit.\n\n";

/** Runs all migrations and describes the tables that result. */
async function ofMigrations(): Promise<Record<string, string>> {
  const storage = await connectStorage("sqlite::memory:");
  await migrate({ storage, clock: steadyClock() }, [...migrations]);
  const files = {
    "packages/server/src/storage/tables.ts": await tableTypes(storage),
    "packages/server/src/storage/sqlite/new-sqlite.ts": await newSqlite(storage),
  };
  await storage.close();
  return files;
}

/** The types of the tables on SQLite; the storage tests check that PostgreSQL has the same columns. */
async function tableTypes({ db }: Storage): Promise<string> {
  const names = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`.execute(
    db,
  );
  const tables = await Promise.all(
    names.rows.map(async ({ name }) => {
      const columns = await sql<{ name: string; type: string; notnull: number; pk: number }>`
        select name, type, "notnull", pk from pragma_table_info(${name}) order by cid`.execute(db);
      const members = columns.rows.map((column) => {
        const type = column.type.toLowerCase() === "text" ? "string" : "number";
        return `    ${column.name}: ${type}${column.notnull || column.pk ? "" : " | null"};`;
      });
      return `  ${name}: {\n${members.join("\n")}\n  };`;
    }),
  );
  return `${FROM_MIGRATIONS}export type Tables = {\n${tables.join("\n")}\n};\n`;
}

/** The statements in the order of creation, so a table precedes its indexes. */
async function newSqlite({ db }: Storage): Promise<string> {
  const made = await sql<{ sql: string }>`
    select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid`.execute(
    db,
  );
  const texts = made.rows.map((row) => `  \`${row.sql}\`,`);
  return `${FROM_MIGRATIONS}/** Everything that a new SQLite database is made of. */\nexport const newSqlite: readonly string[] = [\n${texts.join("\n")}\n];\n`;
}
