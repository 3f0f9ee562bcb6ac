import { type ComponentType, lazy, Suspense, useState } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { SkeletonRows } from "../parts/skeleton.tsx";
import { SCREENS } from "../screens.ts";
import { useMaybeSession } from "../session/session.ts";
import { SignIn } from "../sign-in/sign-in.tsx";
import { SignedIn } from "../sign-in/signed-in.tsx";
import { Frame } from "./frame.tsx";
import { NotHere } from "./not-here.tsx";
import { Unshown } from "./unshown.tsx";

/** Every screen is a file of its own, loaded when one goes there. */
const screens: [path: string, screen: ComponentType][] = [
  [SCREENS.home, lazy(async () => ({ default: (await import("../home/home.tsx")).Home }))],
  [SCREENS.find, lazy(async () => ({ default: (await import("../find/find.tsx")).Find }))],
  [SCREENS.signOn, lazy(async () => ({ default: (await import("../sign-on/sign-on.tsx")).SignOnScreen }))],
  [SCREENS.failures, lazy(async () => ({ default: (await import("../failures/failures.tsx")).Failures }))],
  [
    SCREENS.providers,
    lazy(async () => ({ default: (await import("../providers/providers.tsx")).Providers })),
  ],
  [
    SCREENS.addProvider,
    lazy(async () => ({ default: (await import("../add-provider/add-provider.tsx")).AddProvider })),
  ],
  [
    SCREENS.provider,
    lazy(async () => ({ default: (await import("../providers/provider.tsx")).ProviderScreen })),
  ],
  [SCREENS.keys, lazy(async () => ({ default: (await import("../keys/keys.tsx")).Keys }))],
  [SCREENS.key, lazy(async () => ({ default: (await import("../keys/key.tsx")).KeyScreen }))],
  [SCREENS.planner, lazy(async () => ({ default: (await import("../planner/planner.tsx")).Planner }))],
  [
    SCREENS.customers,
    lazy(async () => ({ default: (await import("../customers/customers.tsx")).Customers })),
  ],
  [
    SCREENS.customer,
    lazy(async () => ({ default: (await import("../customers/customer.tsx")).CustomerScreen })),
  ],
  [SCREENS.events, lazy(async () => ({ default: (await import("../events/events.tsx")).Events }))],
  [
    SCREENS.integrations,
    lazy(async () => ({ default: (await import("../integrations/integrations.tsx")).Integrations })),
  ],
  [
    SCREENS.integration,
    lazy(async () => ({ default: (await import("../integrations/integration.tsx")).IntegrationScreen })),
  ],
  [SCREENS.members, lazy(async () => ({ default: (await import("../members/members.tsx")).Members }))],
  [SCREENS.settings, lazy(async () => ({ default: (await import("../settings/settings.tsx")).Settings }))],
];

export function Console() {
  const session = useMaybeSession();
  const [path] = useLocation();
  const [refused, setRefused] = useState<unknown>();
  // Whoever signs in after that, and out again, is somebody else.
  if (session && refused !== undefined) setRefused(undefined);
  if (path === SCREENS.signedIn) return <SignedIn onRefused={setRefused} />;
  if (!session) return <SignIn refused={refused} />;
  if (path === SCREENS.signIn) return <Redirect to={SCREENS.home} />;
  return (
    <Frame>
      <Unshown key={path}>
        <Suspense fallback={<SkeletonRows rows={6} />}>
          <Switch>
            {screens.map(([at, Screen]) => (
              <Route key={at} path={at}>
                <Screen key={path} />
              </Route>
            ))}
            <Route>
              <NotHere />
            </Route>
          </Switch>
        </Suspense>
      </Unshown>
    </Frame>
  );
}
