import { limits } from "../contract/limits.ts";
import { show } from "../lib/show.ts";
import type { JsonRefusal } from "./discovery.ts";

type JsonEvidence = { expected: string; found: string };

const EVIDENCE: Record<Exclude<JsonRefusal, "not_json">, JsonEvidence> = {
  duplicate_member: { expected: "each member once", found: "a member twice" },
  too_deep: { expected: `at most ${limits.jsonDepth} levels of JSON`, found: "more levels" },
  lone_surrogate: { expected: "whole characters", found: "half of a surrogate pair" },
};

/** The fault and its member, so that an administrator finds the claim. Undefined for a text that is not JSON. */
export function evidenceOf(
  { refusal, member }: { refusal: JsonRefusal; member?: string },
  part?: "header" | "payload",
): JsonEvidence | undefined {
  if (refusal === "not_json") return undefined;
  const { expected, found } = EVIDENCE[refusal];
  const place = [
    ...(part ? [`in the ${part}`] : []),
    ...(member === undefined ? [] : [`at "${show(member)}"`]),
  ];
  return { expected, found: [found, place.join(", ")].filter((text) => text !== "").join(" ") };
}
