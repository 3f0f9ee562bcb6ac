import type { Act } from "../session/can.ts";

/** A screen that people can open by its name. */
export type MenuScreen = {
  to: string;
  name: string;
  /** Further words that find the screen in the search. */
  also?: string;
  /** Only for roles that may do this. */
  act?: Act;
  /** Found by the search, but not in the menu. */
  isUnlisted?: true;
};

type MenuGroup = { label: string; screens: readonly MenuScreen[] };

/** The menu of the frame. The search of all screens reads the same table. */
export const MENU: readonly MenuGroup[] = [
  {
    label: "Now",
    screens: [
      { to: "/", name: "Home", also: "overview status figures" },
      { to: "/find", name: "Look up", also: "find search caller reference" },
      { to: "/sign-ons", name: "Sign-ons", also: "records list log history" },
      { to: "/failures", name: "Failures", also: "errors reasons" },
    ],
  },
  {
    label: "Access",
    screens: [
      { to: "/providers", name: "Providers", also: "identity oidc sso" },
      {
        to: "/providers/add",
        name: "Add a provider",
        also: "new connect identity",
        act: "administer",
        isUnlisted: true,
      },
      { to: "/keys", name: "Keys", also: "application api programs clients secrets" },
      { to: "/planner", name: "Planner", also: "reservations rate limits" },
      { to: "/customers", name: "Customers", also: "shoppers people" },
    ],
  },
  {
    label: "Store",
    screens: [
      { to: "/events", name: "Events", also: "log audit history changes" },
      { to: "/integrations", name: "Integrations", also: "webhooks deliveries" },
      { to: "/settings", name: "Settings", also: "store realms redirect uris branding limit" },
      { to: "/members", name: "Members", also: "colleagues team people roles invite" },
    ],
  },
];
