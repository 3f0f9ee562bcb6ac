/**
 * Every screen and its path. The build writes the list for the service, which answers these paths with the
 * page. For other paths below /console/ that are not files it sends the page with status 404.
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

/** The form of ids that the SDK accepts. */
const ID = "[\\w-]+";

const patterns = Object.values(SCREENS).map(
  (path) => new RegExp(`^${path.replaceAll(/:\w+/g, ID).replace(/\/$/, "")}/?$`),
);

export const isScreen = (path: string): boolean => patterns.some((pattern) => pattern.test(path));
