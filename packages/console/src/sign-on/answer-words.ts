import type { SignOn } from "@latchkey/sdk/admin";

type Answer = NonNullable<SignOn["idp_answer"]>;

/**
 * The result of a call: its status, or that no answer came. A redirect has no status, but its error is an
 * answer.
 */
export function answerInWords({ status, fault, error }: Pick<Answer, "status" | "fault" | "error">): string {
  const came = status !== null ? `HTTP ${status}` : error === null ? "no answer" : "";
  return [came, fault && `(${fault.replaceAll("_", " ")})`].filter(Boolean).join(" ");
}
