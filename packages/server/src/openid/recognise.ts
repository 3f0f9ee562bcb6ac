import { type ConsoleTopic, type KnownProvider, knownProviders } from "../contract/known-providers.ts";
import { signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { type JsonObject, textOf } from "./discovery.ts";
import { type Check, type RequirementId, SIGN_WITH } from "./requirements.ts";

/** The known provider that the document fits, or null. */
export const recognise = (document: JsonObject): KnownProvider | null =>
  knownProviders.find(({ recognisedBy }) =>
    recognisedBy.some((marks) =>
      Object.entries(marks).every(([member, pattern]) => pattern.test(textOf(document, member) ?? "")),
    ),
  ) ?? null;

const TOPICS: Partial<Record<RequirementId, ConsoleTopic>> = {
  R1: "signing",
  R2: "method",
  R3: "code_flow",
  R4: "email",
  R6: "encryption",
  R7: "audience",
};

/** A provider's console has a place for how tokens are signed; the rest of R1 is about addresses and the document. */
const topicOf = ({ id, remedy }: Check): ConsoleTopic | undefined =>
  id === "R1" && !ABOUT_SIGNING.includes(remedy) ? undefined : TOPICS[id];

const ABOUT_SIGNING: readonly (string | null)[] = [SIGN_WITH, signOnReasonEntry("id_token.alg").remedy];

/** The same checks; each remedy also names the place in the provider's console. */
export function inItsWords(provider: KnownProvider | null, checks: readonly Check[]): Check[] {
  return checks.map((check) => {
    const topic = topicOf(check);
    const place = topic && provider?.console[topic];
    const words = `In ${provider?.name}: ${place}.`;
    if (!place || check.remedy === null || check.remedy.endsWith(words)) return check;
    return { ...check, remedy: `${check.remedy} ${words}` };
  });
}

/** Notes on the provider for the requirements that are not met yet. */
export function attentionTo(provider: KnownProvider | null, checks: readonly Check[]): string[] {
  const open = checks.filter(({ status }) => status !== "met");
  return open.flatMap(({ id }) => {
    const text = provider?.attention[id];
    return text ? [`${provider.name}, ${id}: ${text}`] : [];
  });
}
