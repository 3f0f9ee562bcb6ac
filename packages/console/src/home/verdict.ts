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
      says: "No shopper can sign in through a provider yet.",
      because: "Add an identity provider, and shoppers can use the account they already have.",
    };
  const down = used.filter(({ meta }) => meta.health.status === "down");
  const slow = used.filter(({ meta }) => meta.health.status === "degraded");
  if (down.length === used.length)
    return {
      says: "Shoppers cannot sign in.",
      because: `${namesOf(down)} ${isOrAre(down)} not responding.`,
    };
  if (down.length > 0)
    return {
      says: "Some shoppers cannot sign in.",
      because: `${namesOf(down)} ${isOrAre(down)} not responding. The others work.`,
    };
  if (slow.length > 0)
    return {
      says: "Shoppers can sign in, some with trouble.",
      because: `${namesOf(slow)} failed lately. Latchkey keeps checking.`,
    };
  const unasked = used.filter(({ meta }) => meta.health.status === "unknown");
  if (unasked.length > 0)
    return {
      says: "Shoppers can sign in, as far as is known.",
      because: `${namesOf(unasked)} ${unasked.length === 1 ? "was" : "were"} not called lately.`,
    };
  return {
    says: "Shoppers can sign in.",
    because: allRespond(used),
  };
}

const isOrAre = ({ length }: readonly Provider[]): string => (length === 1 ? "is" : "are");

function allRespond(used: readonly Provider[]): string {
  if (used.length === 1) return `${namesOf(used)} is responding.`;
  return used.length === 2
    ? "Both providers are responding."
    : `All ${used.length} providers are responding.`;
}

/**
 * Shown until the providers are loaded. It has as many lines as most verdicts, so that the layout does not
 * jump.
 */
export const noVerdict = (isFailed: boolean): Verdict => ({
  says: "Can shoppers sign in?",
  because: isFailed ? "The state of the providers could not be read." : "Reading the state of the providers…",
});

/** The providers that need attention most: first the ones in a bad state, then the ones with a warning. */
export const toLookAt = (providers: readonly Provider[], most: number): Provider[] =>
  providers.toSorted((one, other) => weightOf(other) - weightOf(one)).slice(0, most);

const weightOf = (provider: Provider): number => ["warn", "bad"].indexOf(stateOf(provider).tone);

const namesOf = (providers: readonly Provider[]): string =>
  new Intl.ListFormat("en").format(providers.map(({ name }) => name));
