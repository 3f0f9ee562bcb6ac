import { styleText } from "node:util";
import { readAllowedOrigins } from "../config.ts";
import { toDiscoveryUrl } from "../identity-provider/discovery.ts";
import { examine, type Report } from "../identity-provider/doctor.ts";
import { createEgress } from "../identity-provider/egress.ts";
import { presentReportMembers } from "../identity-provider/present.ts";
import type { CheckStatus } from "../identity-provider/requirements.ts";
import { steadyClock } from "../lib/clock.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { readOptions, takeArgument } from "./options.ts";

const USAGE = `latchkey doctor <discovery-url> [--json]

Reads an identity provider's discovery document and keys, and says for each of the nine requirements whether it is met.
The issuer's own address does as well. LATCHKEY_EGRESS_ALLOW=http://127.0.0.1:9000 lets it look at one that is not public,
NODE_EXTRA_CA_CERTS=<file> at one whose certificate comes from an authority of your own.
Exit code 0: no requirement is missed.`;

export async function doctor(args: string[]): Promise<void> {
  const [url, rest] = takeArgument(args);
  const options = readOptions(USAGE, rest, { json: { type: "boolean" } });
  if (!options) return;
  if (!url) throw operatorFault(`which identity provider?\n\n${USAGE}`);
  const allowedOrigins = readAllowedOrigins(process.env);
  const { send } = createEgress({ allowedOrigins });
  const report = await examine({ send, clock: steadyClock(), allowedOrigins }, url.trim());
  console.log(options.json ? JSON.stringify(presentReportMembers(report)) : format(report));
  if (report.checks.some(({ status }) => status === "not_met")) process.exitCode = 1;
}

const MARKS: Record<CheckStatus, { mark: string; colour: "green" | "red" | "yellow" }> = {
  met: { mark: "met", colour: "green" },
  not_met: { mark: "NOT MET", colour: "red" },
  unknown: { mark: "later", colour: "yellow" },
};

function format(report: Report): string {
  const lines = report.checks.flatMap(({ id, requirement, status, evidence, remedy }) => {
    const { mark, colour } = MARKS[status];
    return [
      `${styleText(colour, mark.padEnd(8))} ${id}  ${requirement}`,
      `             ${styleText("dim", evidence)}`,
      ...(remedy ? [`             ${styleText("bold", remedy)}`] : []),
    ];
  });
  const count = (status: CheckStatus) => report.checks.filter((check) => check.status === status).length;
  return [
    "",
    ...(report.provider
      ? [`provider ${report.provider.name}: docs/guides/providers/${report.provider.key}.md has its recipe`]
      : []),
    `asked    ${toDiscoveryUrl(report.discoveryUrl)}`,
    `issuer   ${report.issuer ?? "not known"}`,
    `hosts    ${report.hosts.join(", ") || "not known"}`,
    `answered ${report.answerMs === null ? "not at all" : `in ${report.answerMs} ms`}${report.clockOffsetSeconds === null ? "" : `, its clock is ${report.clockOffsetSeconds} s from ours`}`,
    "",
    ...lines,
    "",
    ...report.warnings.map((warning) => styleText("yellow", `note     ${warning}`)),
    `${count("met")} met, ${count("not_met")} not met, ${count("unknown")} to be seen at the first sign-on`,
  ].join("\n");
}
