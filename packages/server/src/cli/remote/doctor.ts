import { styleText } from "node:util";
import { readAllowedOrigins } from "../../config.ts";
import { createEgress } from "../../egress/egress.ts";
import { originsFor } from "../../lib/allowed-origins.ts";
import { steadyClock } from "../../lib/clock.ts";
import { usageFault } from "../../lib/operator-fault.ts";
import { toDiscoveryUrl } from "../../openid/discovery.ts";
import { examine, type Report } from "../../openid/doctor.ts";
import type { CheckStatus } from "../../openid/requirements.ts";
import { presentReportMembers } from "../../profiles/resource.ts";
import { quoted } from "../options.ts";

export async function doctor({ argument: url, json }: { argument: string; json: boolean }): Promise<void> {
  const address = readAddress(url.trim());
  // The operator runs this command, so it may reach the origins of every store.
  const use = { purpose: "idp", storeId: undefined } as const;
  const allowedOrigins = originsFor(readAllowedOrigins(process.env), use);
  const { send } = createEgress({ allowedOrigins });
  const report = await examine({ send, clock: steadyClock(), allowedOrigins }, address);
  console.log(json ? JSON.stringify(presentReportMembers(report)) : format(report));
  if (report.checks.some(({ status }) => status === "not_met")) process.exitCode = 1;
}

function readAddress(url: string): string {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  const meant = `https://${url}`;
  const hint = !url.includes("://") && URL.canParse(meant) ? `; did you mean ${meant}?` : "";
  throw usageFault(`<discovery-url> must begin with https://, not be ${quoted(url)}${hint}`);
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
    `answered ${report.answerMs === null ? "nothing that could be read" : `in ${report.answerMs} ms`}${report.clockOffsetSeconds === null ? "" : `, its clock is ${report.clockOffsetSeconds} s from Latchkey's`}`,
    "",
    ...lines,
    "",
    ...report.warnings.map((warning) => styleText("yellow", `note     ${warning}`)),
    `${count("met")} met, ${count("not_met")} not met, ${count("unknown")} ${report.unreachable ? "not known without the document" : "checked at the first sign-on"}`,
  ].join("\n");
}
