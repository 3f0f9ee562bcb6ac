import type { Admin, SignOn, SignOnStatistics } from "@latchkey/sdk/admin";
import { readStatistics } from "../parts/charts/ranges.ts";
import { totalsOf } from "../parts/charts/usage.ts";
import type { Figure } from "../parts/forms/figures.tsx";
import { counted, countedList, sentence } from "../parts/text/counts.ts";

export const customersOf = ({ customers }: Pick<Admin, "customers">): Figure => ({
  about: "customers",
  read: async () => sentence(`${countedList(await customers.list({ limit: 1 }), "customer")} in this store.`),
});

export const signOnsOfStore = (admin: Pick<Admin, "signOns">): Figure => ({
  about: "sign-ons",
  read: async () => signOnsInWords(await readStatistics(admin, "day")),
});

type Counted = { data: readonly Pick<SignOnStatistics["data"][number], "outcomes">[] };

/** The sign-ons that reached the storefront: the rule decides about these. */
export function signOnsInWords({ data }: Counted): string {
  const sum = data.reduce(
    (total, { outcomes: { exchanged = 0, code_issued: issued = 0 } }) => total + exchanged + issued,
    0,
  );
  return sentence(`${counted(sum, "successful sign-on")} in the last 24 hours.`);
}

const SAMPLE = 100;

/** No list counts sign-ons by redirect URI, so the figure is their share of the latest ones. */
export const returnsTo = ({ signOns }: Pick<Admin, "signOns">, realmId: string, uri: string): Figure => ({
  about: `sign-ons that return to ${uri}`,
  read: async () => returnsInWords((await signOns.list({ limit: SAMPLE })).data, realmId, uri),
});

type Returned = Pick<SignOn, "realm_id" | "redirect_uri" | "test">;

export function returnsInWords(latest: readonly Returned[], realmId: string, uri: string): string {
  const ofRealm = latest.filter(({ realm_id, test }) => realm_id === realmId && !test);
  if (ofRealm.length === 0) return "No recent sign-on in this realm.";
  const count = ofRealm.filter(({ redirect_uri }) => redirect_uri === uri).length;
  return `${count === 0 ? "None" : count} of the latest ${counted(ofRealm.length, "sign-on")} returned to ${uri}.`;
}

const MINUTES = 5;

export const busiestSecond = ({ store }: Pick<Admin, "store">): Figure => ({
  about: "requests",
  read: async () => {
    const { asked } = totalsOf((await store.usage({ seconds: MINUTES * 60 })).data);
    const most = Math.max(0, ...asked);
    return sentence(`${counted(most, "request")} in the busiest second of the last ${MINUTES} minutes.`);
  },
});
