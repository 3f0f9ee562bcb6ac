import type { ApiError } from "@latchkey/sdk/admin";

/** The number of identities that a change of the issuer would leave behind, from the service's refusal. */
export type Left = { identities: number; issuer: string; newIssuer: string | null };

/** The service counts up to this number. */
const COUNTED = 10_000;

export function leftBehind({ errors }: Pick<ApiError, "errors">): Left | undefined {
  const fault = errors.find(({ code }) => code === "identities_left_behind");
  if (!fault) return undefined;
  const { identities, issuer, new_issuer } = fault.meta ?? {};
  return {
    identities: Number(identities),
    issuer: String(issuer),
    newIssuer: typeof new_issuer === "string" ? new_issuer : null,
  };
}

export function peopleInWords(count: number): string {
  if (count === 1) return "One person";
  return `${count.toLocaleString("en")}${count >= COUNTED ? " or more" : ""} people`;
}
