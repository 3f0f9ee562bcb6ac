/**
 * Every screen and its address. The service answers these with the page, and everything else below /console/ that is no file with 404;
 * the build hands it the list.
 */
export const SCREENS = {
  home: "/",
  signIn: "/sign-in",
  signedIn: "/signed-in",
  find: "/find",
  signOn: "/sign-ons/:id",
  failures: "/failures",
  providers: "/providers",
  addProvider: "/providers/add",
  provider: "/realms/:realm/providers/:id",
  keys: "/keys",
  key: "/keys/:id",
  planner: "/planner",
  customers: "/customers",
  customer: "/customers/:id",
  events: "/events",
  integrations: "/integrations",
  integration: "/integrations/:id",
  settings: "/settings",
  members: "/members",
} as const;
