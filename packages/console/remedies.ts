import { problems } from "../server/src/contract/problems.ts";

/**
 * Remedies for a person at the console. Those of the service's table are for programs where they name a member, a
 * method or a command; here is what the person does instead.
 */
export const REMEDIES_AT_CONSOLE: Partial<Record<keyof typeof problems, string>> = {
  profile_not_found:
    "The provider was removed, or the address of this page is incomplete. Open it under Providers.",
  profile_changed:
    "Another person or window has changed it meanwhile. Load this page again, and repeat the change if it is still right.",
  realm_changed:
    "Another person or window has changed it meanwhile. Load this page again, and repeat the change if it is still right.",
  client_secret_required:
    "Enter the client secret, too: Latchkey sends a secret only to the address it was entered for.",
  idp_requirement_not_met: "The provider’s administrator must change this. Run the checks again afterwards.",
  idp_unreachable:
    "Check the address, and that the provider runs. If it is inside your own network, the operator of this service must allow its address.",
  identities_left_behind: "Choose whether the people who signed in before stay who they are.",
  confirmation_wrong: "Type the provider’s name exactly as it is shown.",
  adoption_impossible:
    "Only people of a removed provider with the same issuer and client ID can be taken over.",
  discovery_tries_exceeded: "Wait a minute, then try again.",
  drift_changed: "Another change has come since. Look at the differences again, then approve them.",
  setup_link_not_found: "The link has expired, or another person has ended it.",
  setup_links_full: "End a link that is no longer needed, or wait until one expires.",
};

/** The remedy of each problem. */
export const remedies = (): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(problems).map(([code, { remedy }]) => [code, remedy])),
  ...REMEDIES_AT_CONSOLE,
});
