import type { Settings as AuthenticationSettings, Realm } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ShowFirstSteps } from "../first-hour/show-again.tsx";
import { Copyable } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { useRealms } from "../parts/realms.ts";
import { Screen } from "../parts/screen.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { Branding } from "./branding.tsx";
import { Policies } from "./policy.tsx";
import { RedirectUris } from "./redirect-uris.tsx";
import { StoreForm } from "./store-form.tsx";

export function Settings() {
  const admin = useAdmin();
  const realms = useRealms();
  const settings = useQuery({
    queryKey: ["settings"],
    queryFn: async () => (await admin.settings.get()).data,
  });
  const store = useQuery({ queryKey: ["store"], queryFn: async () => (await admin.store.get()).data });
  return (
    <Screen
      title="Settings"
      lead="Where sign-ons may end, what shoppers see, who is one customer, what follows the provider, and the store’s limit."
    >
      <div className="stack-wide">
        <Asked query={realms}>
          {(list) =>
            // Waits for the client id, which is above the rest: a later arrival would move the rest.
            settings.isPending ? (
              <SkeletonRows rows={8} />
            ) : (
              <>
                {settings.error && <Problem error={settings.error} again={() => void settings.refetch()} />}
                {list.map((realm) => (
                  <RealmCard key={realm.id} realm={realm} settings={settings.data} />
                ))}
              </>
            )
          }
        </Asked>
        <Asked query={store}>{(data) => <StoreForm store={data} />}</Asked>
        <ShowFirstSteps />
      </div>
    </Screen>
  );
}

function RealmCard({ realm, settings }: { realm: Realm; settings: AuthenticationSettings | undefined }) {
  return (
    <section className="card stack-wide" aria-labelledby={realm.id}>
      <div className="stack">
        <h2 id={realm.id}>Realm “{realm.name}”</h2>
        {settings?.realm_id === realm.id && (
          <div className="stack-tight">
            <strong>Client id for OpenID Connect libraries</strong>
            <Copyable text={settings.client_id} what="client id for OpenID Connect libraries" />
            <p className="quiet small">
              <code>@latchkey/sdk</code> takes the client id of a key instead.{" "}
              <Link href="/keys">Look at the keys</Link>
            </p>
          </div>
        )}
      </div>
      <RedirectUris realm={realm} />
      {realm.purpose === "customers" && (
        <>
          <Branding realm={realm} />
          <Policies realm={realm} />
        </>
      )}
    </section>
  );
}
