import { Suspense, useState } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { isScreen, SCREENS } from "../screens.ts";
import { useMaybeSession } from "../session/session.ts";
import { SignIn } from "../sign-in/sign-in.tsx";
import { SignedIn } from "../sign-in/signed-in.tsx";
import { Brand, Frame } from "./frame.tsx";
import { type Load, loaded } from "./loaded.ts";
import { NotHere } from "./not-here.tsx";
import { insteadOfScreen, Unshown } from "./unshown.tsx";

/** Every screen is a separate file, loaded when it is first opened. */
const screens: [path: string, load: Load][] = [
  [SCREENS.home, async () => (await import("../home/home.tsx")).Home],
  [SCREENS.find, async () => (await import("../find/find.tsx")).Find],
  [SCREENS.signOns, async () => (await import("../sign-ons/sign-ons.tsx")).SignOns],
  [SCREENS.signOn, async () => (await import("../sign-on/sign-on.tsx")).SignOnScreen],
  [SCREENS.failures, async () => (await import("../failures/failures.tsx")).Failures],
  [SCREENS.providers, async () => (await import("../providers/providers.tsx")).Providers],
  [SCREENS.addProvider, async () => (await import("../add-provider/add-provider.tsx")).AddProvider],
  [SCREENS.provider, async () => (await import("../providers/provider.tsx")).ProviderScreen],
  [SCREENS.keys, async () => (await import("../keys/keys.tsx")).Keys],
  [SCREENS.key, async () => (await import("../keys/key.tsx")).KeyScreen],
  [SCREENS.planner, async () => (await import("../planner/planner.tsx")).Planner],
  [SCREENS.customers, async () => (await import("../customers/customers.tsx")).Customers],
  [SCREENS.customer, async () => (await import("../customers/customer.tsx")).CustomerScreen],
  [SCREENS.events, async () => (await import("../events/events.tsx")).Events],
  [SCREENS.integrations, async () => (await import("../integrations/integrations.tsx")).Integrations],
  [SCREENS.integration, async () => (await import("../integrations/integration.tsx")).IntegrationScreen],
  [SCREENS.members, async () => (await import("../members/members.tsx")).Members],
  [SCREENS.settings, async () => (await import("../settings/settings.tsx")).Settings],
];

export function Console() {
  const session = useMaybeSession();
  const [path] = useLocation();
  const [refused, setRefused] = useState<unknown>();
  // The refusal concerns the previous person only.
  if (session && refused !== undefined) setRefused(undefined);
  if (path === SCREENS.signedIn) return <SignedIn onRefused={setRefused} />;
  if (!isScreen(path))
    return session ? (
      <Frame>
        <NotHere />
      </Frame>
    ) : (
      <div className="alone">
        <header>
          <Brand />
        </header>
        <main className="alone-head">
          <NotHere />
        </main>
      </div>
    );
  if (!session) return <SignIn refused={refused} />;
  if (path.replace(/\/$/, "") === SCREENS.signIn) return <Redirect to={SCREENS.home} replace />;
  return (
    <Frame>
      <Unshown key={path} instead={insteadOfScreen}>
        {() => (
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <Switch>
              {screens.map(([at, load]) => {
                const Screen = loaded(load);
                return (
                  <Route key={at} path={at}>
                    <Screen key={path} />
                  </Route>
                );
              })}
            </Switch>
          </Suspense>
        )}
      </Unshown>
    </Frame>
  );
}
