import type { Provider } from "../parts/profiles.ts";
import { pathOf, UNREGISTERED } from "../parts/profiles.ts";

/** What the service knows about the first steps of a store. */
export type Facts = {
  providers: readonly Provider[];
  /** Whether a realm of customers has a redirect URI. */
  hasRedirectUri: boolean;
  isTested: boolean;
  hasShopper: boolean;
  hasColleague: boolean;
};

/** `to`: a path of the console. Without it the step is done elsewhere, or another step comes first. */
export type Step = {
  name: "provider" | "redirect-uri" | "test" | "shopper" | "colleague";
  title: string;
  why: string;
  isDone: boolean;
  act?: { label: string; to: string } | undefined;
};

/** The providers through which shoppers sign in. */
export const ofShoppers = (providers: readonly Provider[]): Provider[] =>
  providers.filter(({ realm }) => realm.purpose === "customers");

/** Latchkey examines a provider before it enables it, and knows its issuer when it has read its document. */
const isReady = ({ enabled, client_id, meta }: Provider): boolean =>
  enabled && client_id !== UNREGISTERED && meta.issuer !== null;

export function stepsOf({ providers, hasRedirectUri, isTested, hasShopper, hasColleague }: Facts): Step[] {
  const shoppers = ofShoppers(providers);
  const ready = shoppers.find(isReady);
  const begun = shoppers[0];
  return [
    {
      name: "provider",
      title: "Add an identity provider",
      why: "Shoppers sign in with the account that they already have there.",
      isDone: ready !== undefined,
      act: begun
        ? { label: `Continue with ${begun.name}`, to: pathOf(begun) }
        : { label: "Add a provider", to: "/providers/add" },
    },
    {
      name: "redirect-uri",
      title: "Add a redirect URI",
      why: "The address of your shop to which shoppers return. Latchkey sends them to no other address.",
      isDone: hasRedirectUri,
      act: { label: "Add it in Settings", to: "/settings" },
    },
    {
      name: "test",
      title: "Make a test sign-on",
      why: ready
        ? "Sign in once yourself and see every check before shoppers do. No customer or token is created."
        : "Add a provider first. Then sign in once yourself and see every check before shoppers do.",
      // A shopper who came through shows the same, also when the record of the test is deleted.
      isDone: isTested || hasShopper,
      act: ready && { label: "Test sign-on", to: pathOf(ready) },
    },
    {
      name: "shopper",
      title: "See the first shopper sign in",
      why: "Add the sign-in to your shop. The guide has complete examples. This step is done at the first sign-on.",
      isDone: hasShopper,
    },
    {
      name: "colleague",
      title: "Invite a colleague",
      why: "A colleague can help shoppers while you are away, with their own sign-in and a role that you choose.",
      isDone: hasColleague,
      act: { label: "Invite under Members", to: "/members" },
    },
  ];
}
