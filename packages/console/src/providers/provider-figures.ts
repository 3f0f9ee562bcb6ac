import type { Admin, Profile, SignOnStatistics } from "@latchkey/sdk/admin";
import { readStatistics } from "../parts/charts/ranges.ts";
import type { Figure } from "../parts/forms/figures.tsx";
import { counted, sentence } from "../parts/text/counts.ts";

/** How many sign-ons go through the provider, and whether its realm has another one. */
export const providerFigures = (admin: Admin, realmId: string, profile: Profile): Figure[] => [
  signOnsThrough(admin, profile),
  {
    about: "other providers",
    read: async () => {
      const all: Profile[] = [];
      for await (const one of admin.profiles(realmId).list({ limit: 100 }).all()) all.push(one);
      return othersInWords(all, profile.id);
    },
  },
];

export const signOnsThrough = (admin: Pick<Admin, "signOns">, profile: Pick<Profile, "id">): Figure => ({
  about: "sign-ons through it",
  // A provider of the members' realm has members' sign-ons alone.
  read: async () => {
    const [ofShoppers, ofMembers] = await Promise.all([
      readStatistics(admin, "day"),
      readStatistics(admin, "day", "members"),
    ]);
    return signOnsInWords({ data: [...ofShoppers.data, ...ofMembers.data] }, profile.id);
  },
});

/** Not sign-ons: a redirect, which is counted beside its outcome, a test, and a logout token that was refused. */
const NO_SIGN_ONS = ["started", "tested", "logout_refused"];

type Counted = { data: readonly Pick<SignOnStatistics["data"][number], "profile_id" | "outcomes">[] };

export function signOnsInWords({ data }: Counted, profileId: string): string {
  const counts = data
    .filter(({ profile_id }) => profile_id === profileId)
    .flatMap(({ outcomes }) => Object.entries(outcomes))
    .filter(([outcome]) => !NO_SIGN_ONS.includes(outcome));
  const sum = counts.reduce((total, [, count]) => total + count, 0);
  return sentence(`${counted(sum, "sign-on")} through it in the last 24 hours.`);
}

/** The other providers that people of this realm can sign in through now. */
export function othersInWords(all: readonly Pick<Profile, "id" | "enabled">[], profileId: string): string {
  const others = all.filter(({ id, enabled }) => enabled && id !== profileId).length;
  return others === 0
    ? "No other provider of this realm is enabled: without this one, people cannot sign in through a provider."
    : sentence(`${counted(others, "other provider")} of this realm ${others === 1 ? "is" : "are"} enabled.`);
}
