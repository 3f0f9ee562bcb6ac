/**
 * Every screen and its path. The build writes the list for the service, which answers these paths with the
 * page. For other paths below /console/ that are not files it sends the page with status 404.
 */
export const SCREENS = {
  home: "/",
  signIn: "/sign-in",
  signedIn: "/signed-in",
  find: "/find",
  signOns: "/sign-ons",
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
const ID = /^[\w-]+$/;

const partsOf = (path: string): string[] => path.replace(/\/$/, "").split("/");

const screens = Object.values(SCREENS).map(partsOf);

export function isScreen(path: string): boolean {
  const parts = partsOf(path);
  return screens.some(
    (screen) =>
      screen.length === parts.length &&
      screen.every((name, at) => (name.startsWith(":") ? ID.test(parts[at] ?? "") : name === parts[at])),
  );
}
