import type { NewProfileReport } from "@latchkey/sdk/admin";
import { counted } from "../parts/text/counts.ts";
import { isSameIssuer } from "./address.ts";

type Report = Pick<NewProfileReport, "issuer" | "checks">;

/**
 * unread: there is no document to judge. elsewhere: the document is another issuer's. missing: the provider does not
 * meet a requirement. fits: no requirement is missed, as far as the documents show.
 */
export type Finding = "unread" | "elsewhere" | "missing" | "fits";

export function findingOf({ issuer, checks }: Report, address: string): Finding {
  const missed = missedIn({ checks });
  if (missed.some(({ id }) => id === "R5")) return "unread";
  if (issuer !== null && !isSameIssuer(issuer, address)) return "elsewhere";
  return missed.length > 0 ? "missing" : "fits";
}

export const missedIn = ({ checks }: Pick<Report, "checks">) =>
  checks.filter(({ status }) => status === "not_met");

/** "5 of 9 requirements are met, and 4 are checked at the first sign-on." */
export function summaryOf({ checks }: Pick<Report, "checks">): string {
  const count = (status: string) => checks.filter((check) => check.status === status).length;
  const [missed, open] = [count("not_met"), count("unknown")];
  const parts = [
    `${count("met")} of ${checks.length} requirements are met`,
    ...(missed > 0 ? [`${missed} ${missed === 1 ? "is" : "are"} not met`] : []),
    ...(open > 0 ? [`${open} ${open === 1 ? "is" : "are"} checked at the first sign-on`] : []),
  ];
  return `${parts.slice(0, -1).join(", ")}${parts.length > 1 ? ", and " : ""}${parts.at(-1)}.`;
}

/** The name that a new provider gets, unless the person types another one. */
export const nameFor = (
  { provider, issuer }: Pick<NewProfileReport, "provider" | "issuer">,
  address: string,
) => provider?.name ?? URL.parse(issuer ?? address)?.hostname ?? "";

/** The issuer that the document names, if it can be checked instead of the typed address. */
export const otherIssuer = ({ issuer }: Pick<Report, "issuer">): string | undefined =>
  issuer !== null && /^https?:\/\/[^\s]+$/.test(issuer) && URL.canParse(issuer) ? issuer : undefined;

export const inUse = (names: readonly string[]): string =>
  `${counted(names.length, "provider")} of this store ${names.length === 1 ? "has" : "have"} this issuer already: ${names.join(", ")}.`;
