import type { ProfileLinks } from "@latchkey/sdk/admin";

type Links = Pick<ProfileLinks, "callback-endpoint" | "backchannel-logout-endpoint">;

const ADDRESSES: Record<string, { link: keyof Links; name: string }> = {
  callback: { link: "callback-endpoint", name: "the redirect URI above" },
  "backchannel-logout": { link: "backchannel-logout-endpoint", name: "the back-channel logout URL above" },
};

/**
 * The steps at the provider, for the person who does them. In code an address is itself, so that a command can be
 * copied; in text it has the name that it has on the page. A new provider has no page to return to after a sign-out,
 * so the steps for that page are left out.
 */
export const stepsAt = (steps: readonly string[], links: Links): string[] =>
  steps.filter((step) => !step.includes("{signed-out}")).map((step) => filled(step, links));

const filled = (step: string, links: Links): string =>
  step
    .split("`")
    .map((part, at) =>
      part.replaceAll(/\{([a-z-]+)\}/g, (whole, word: string) => {
        const address = ADDRESSES[word];
        if (!address) return whole;
        return at % 2 === 1 ? links[address.link] : address.name;
      }),
    )
    .join("`");
