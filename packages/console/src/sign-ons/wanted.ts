import type { SignOn } from "@latchkey/sdk/admin";
import { quoted } from "../find/interpret.ts";
import { readSpan, type Span, spanConditions } from "../parts/lists/span.ts";

/** The sign-ons that the address asks for. Other screens link here with the same parts. */
export type Wanted = Span & {
  people: People;
  /** An outcome of `OUTCOMES`, or one of the API; empty: every sign-on, but no refused logout. */
  outcome: string;
  /** The id of a profile. */
  provider: string;
  /** The id of an application key. */
  key: string;
  reason: string;
};

export type People = keyof typeof PEOPLE;

/** Whose sign-ons, with the conditions of the API. The figures of the console count each of them apart. */
export const PEOPLE = {
  shoppers: { label: "Shoppers", conditions: ["eq(purpose,customers)", "eq(test,false)"] },
  members: { label: "Members", conditions: ["eq(purpose,members)", "eq(test,false)"] },
  tests: { label: "Test sign-ons", conditions: ["eq(test,true)"] },
} as const;

type Outcome = { value: string; label: string };

const OUTCOMES: readonly Outcome[] = [
  { value: "", label: "Every sign-on" },
  { value: "signed_in", label: "Signed in" },
  { value: "not_finished", label: "Not finished" },
  { value: "failed", label: "Failed" },
  { value: "logout_refused", label: "Sign-out refused" },
];

const OUTCOMES_OF_TESTS: readonly Outcome[] = [
  { value: "", label: "Every outcome" },
  { value: "tested", label: "Test passed" },
  { value: "failed", label: "Failed" },
];

export const outcomesOf = (people: People): readonly Outcome[] =>
  people === "tests" ? OUTCOMES_OF_TESTS : OUTCOMES;

const KNOWN = new Set<string>([
  ...[...OUTCOMES, ...OUTCOMES_OF_TESTS].map(({ value }) => value),
  ...(["exchanged", "code_issued", "expired"] satisfies SignOn["outcome"][]),
]);

const idIn = (search: URLSearchParams, name: string): string =>
  /^[0-9a-f-]{36}$/i.exec(search.get(name) ?? "")?.[0] ?? "";

/** Reads what the console knows; the rest of an address is dropped, because the API would refuse the whole. */
export function readWanted(search: URLSearchParams): Wanted {
  const [people, outcome] = [search.get("people") ?? "", search.get("outcome") ?? ""];
  return {
    ...readSpan(search),
    people: Object.hasOwn(PEOPLE, people) ? (people as People) : "shoppers",
    outcome: KNOWN.has(outcome) ? outcome : "",
    provider: idIn(search, "provider"),
    key: idIn(search, "key"),
    reason: quoted(search.get("reason") ?? ""),
  };
}

/** Outcomes that have another name in the API. Without a choice the list has no refused logouts, like the figures. */
const OF_API: Record<string, string> = { "": "sign_on", signed_in: "exchanged" };

/** The filter of the API. */
export function filterOf({ people, outcome, provider, key, reason, ...span }: Wanted): string {
  return [
    ...PEOPLE[people].conditions,
    `eq(outcome,${OF_API[outcome] ?? outcome})`,
    ...(provider ? [`eq(profile_id,${provider})`] : []),
    ...(key ? [`eq(key_id,${key})`] : []),
    ...(reason ? [`eq(reason,${reason})`] : []),
    ...spanConditions("started_at", span),
  ].join(":");
}

/** Whether the list is narrower than all sign-ons of these people. */
export const isNarrowed = ({ people: _, ...others }: Wanted): boolean =>
  Object.values(others).some((value) => value !== "");
