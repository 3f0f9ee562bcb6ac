import type { ApiError } from "@latchkey/sdk/admin";

/** Who would be left behind by a change of the issuer, as the service has counted them. */
export type Left = { identities: number; issuer: string; newIssuer: string | null };

/** Up to here the service counts. */
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
