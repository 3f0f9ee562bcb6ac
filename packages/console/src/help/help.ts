import { SCREENS } from "../screens.ts";

type ScreenName = keyof typeof SCREENS;

/** The page of the documentation for each screen: a file of the repository, and the anchor of a heading. */
export const HELP: Record<ScreenName | "notHere", string> = {
  home: "docs/guides/console.md#home",
  signIn: "docs/guides/console.md#sign-in",
  signedIn: "docs/guides/console.md#sign-in",
  find: "docs/guides/console.md#a-caller-cannot-sign-in",
  signOns: "docs/guides/console.md#sign-ons",
  signOn: "docs/how-a-sign-on-works.md#step-by-step",
  failures: "docs/errors.md#why-a-sign-on-failed",
  providers: "docs/guides/console.md#a-provider",
  addProvider: "docs/guides/connect-your-identity-provider.md",
  provider: "docs/guides/console.md#a-provider",
  keys: "docs/guides/console.md#a-key",
  key: "docs/guides/console.md#a-key",
  planner: "docs/rate-limits.md#planning",
  customers: "docs/how-a-sign-on-works.md#who-is-it",
  customer: "docs/how-a-sign-on-works.md#who-is-it",
  events: "docs/events.md",
  integrations: "docs/guides/webhooks.md",
  integration: "docs/guides/console.md#an-integration",
  settings: "docs/guides/console.md#settings",
  members: "docs/guides/members.md",
  notHere: "docs/guides/console.md#what-is-where",
};

/** `path` as wouter has it: below /console, without a query. */
export function helpAt(path: string): string {
  const asked = path.split("/").filter(Boolean);
  const name = (Object.keys(SCREENS) as ScreenName[]).find((one) => {
    const parts = SCREENS[one].split("/").filter(Boolean);
    return (
      parts.length === asked.length && parts.every((part, at) => part.startsWith(":") || part === asked[at])
    );
  });
  return HELP[name ?? "notHere"];
}
