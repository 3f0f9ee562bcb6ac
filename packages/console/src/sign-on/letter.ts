import type { SignOn } from "@latchkey/sdk/admin";
import { wordsForCaller } from "./caller-words.ts";
import { checkInWords } from "./check-words.ts";

/** A letter to the provider's administrator: facts of this sign-on, and no personal data. */
export function letterOf(signOn: SignOn, issuer: string | null): string {
  const failed = signOn.checks.filter(({ passed }) => !passed);
  const forCaller = wordsForCaller(signOn);
  const lines = [
    `A sign-on through ${signOn.profile_name ?? "your identity provider"} failed.`,
    "",
    `Reference: ${signOn.reference}`,
    `When: ${signOn.meta.timestamps.started_at}`,
    ...(issuer ? [`Issuer: ${issuer}`] : []),
    `Reason: ${signOn.reason}${signOn.means ? ` (${signOn.means})` : ""}`,
    ...failed.map(
      ({ check, expected, found }) =>
        `${checkInWords(check)}: expected ${expected ?? "(not stated)"}, found ${found ?? "(not stated)"}`,
    ),
    ...(signOn.remedy ? ["", `How to fix it: ${signOn.remedy.replaceAll("`", "")}`] : []),
    ...(forCaller ? ["", `What callers are told until then: ${forCaller}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}
