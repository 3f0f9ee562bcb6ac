import type { Settings as AuthenticationSettings, Realm } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ShowFirstSteps } from "../first-hour/show-again.tsx";
import { Copyable } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { useRealms } from "../parts/realms.ts";
import { Screen } from "../parts/screen.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Branding } from "./branding.tsx";
import { Policies } from "./policy.tsx";
import { RedirectUris } from "./redirect-uris.tsx";
import { StoreForm } from "./store-form.tsx";

export function Settings() {
  const admin = useAdmin();
  const can = useCan();
  const realms = useRealms();
  const settings = useQuery({
    queryKey: ["settings"],
    queryFn: async () => (await admin.settings.get()).data,
  });
  const store = useQuery({ queryKey: ["store"], queryFn: async () => (await admin.store.get()).data });
  return (
    <Screen
      title="Settings"
      lead="Redirect URIs, your shop on Latchkey’s pages, rules for customers, and the store’s limit."
      actions={!can("administer") && <NotOffered act="administer" />}
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
            <strong>Client ID for OpenID Connect libraries</strong>
            <Copyable text={settings.client_id} what="client ID for OpenID Connect libraries" />
            <p className="quiet small">
              <code>@latchkey/sdk</code> takes the client ID of a key instead.{" "}
              <Link href="/keys">Show the keys</Link>
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
