import type { Provider } from "../parts/profiles.ts";
import { stateOf, UNREGISTERED } from "../parts/profiles.ts";

/** A sentence that says whether shoppers can sign in now, from the health of the providers. */
type Verdict = { says: string; because: string };

export function verdictOf(providers: readonly Provider[]): Verdict {
  const used = providers.filter(
    ({ enabled, client_id, realm }) => enabled && client_id !== UNREGISTERED && realm?.purpose !== "members",
  );
  if (used.length === 0)
    return {
      says: "Nobody can sign in through a provider yet.",
      because: "Add an identity provider, and shoppers can use the account they already have.",
    };
  const down = used.filter(({ meta }) => meta.health.status === "down");
  const slow = used.filter(({ meta }) => meta.health.status === "degraded");
  if (down.length === used.length)
    return {
      says: "Shoppers cannot sign in.",
      because: `${namesOf(down)} ${down.length === 1 ? "does" : "do"} not answer.`,
    };
  if (down.length > 0)
    return {
      says: "Some shoppers cannot sign in.",
      because: `${namesOf(down)} ${down.length === 1 ? "does" : "do"} not answer. The others work.`,
    };
  if (slow.length > 0)
    return {
      says: "Shoppers can sign in, some with trouble.",
      because: `${namesOf(slow)} failed lately, and ${slow.length === 1 ? "is" : "are"} being watched.`,
    };
  const unasked = used.filter(({ meta }) => meta.health.status === "unknown");
  if (unasked.length > 0)
    return {
      says: "Shoppers can sign in, as far as is known.",
      because: `${namesOf(unasked)} ${unasked.length === 1 ? "was" : "were"} not asked lately.`,
    };
  return {
    says: "Shoppers can sign in.",
    because: used.length === 1 ? `${namesOf(used)} answers.` : `All ${used.length} providers answer.`,
  };
}

/**
 * Shown until the providers are loaded. It has as many lines as most verdicts, so that the layout does not
 * jump.
 */
export const noVerdict = (isFailed: boolean): Verdict => ({
  says: "Can shoppers sign in?",
  because: isFailed ? "That could not be found out." : "Looking at the providers…",
});

/** The providers that need attention most: first the ones in a bad state, then the ones with a warning. */
export const toLookAt = (providers: readonly Provider[], most: number): Provider[] =>
  providers.toSorted((one, other) => weightOf(other) - weightOf(one)).slice(0, most);

const weightOf = (provider: Provider): number => ["warn", "bad"].indexOf(stateOf(provider).tone);

const namesOf = (providers: readonly Provider[]): string =>
  new Intl.ListFormat("en").format(providers.map(({ name }) => name));
