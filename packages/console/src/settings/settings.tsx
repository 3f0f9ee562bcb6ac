import type { Settings as AuthenticationSettings, Realm } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Asked } from "../parts/asked.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAdmin } from "../session/session.ts";
import { Policies } from "./policy.tsx";
import { RedirectUris } from "./redirect-uris.tsx";
import { StoreForm } from "./store-form.tsx";

export function Settings() {
  const admin = useAdmin();
  const realms = useQuery({
    queryKey: ["realms"],
    queryFn: async () => (await admin.realms.list({ limit: 100 })).data,
  });
  const settings = useQuery({
    queryKey: ["settings"],
    queryFn: async () => (await admin.settings.get()).data,
  });
  const store = useQuery({ queryKey: ["store"], queryFn: async () => (await admin.store.get()).data });
  return (
    <Screen
      title="Settings"
      lead="Where sign-ons may end, who is one customer, what follows the provider, and the store’s limit."
    >
      <div className="stack-wide">
        <Asked query={realms}>
          {(list) => list.map((realm) => <RealmCard key={realm.id} realm={realm} settings={settings.data} />)}
        </Asked>
        <Asked query={store}>
          {(data) => <StoreForm key={data.meta.timestamps.updated_at} store={data} />}
        </Asked>
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
            <strong>Client id for storefronts</strong>
            <Copyable text={settings.client_id} what="client id for storefronts" />
          </div>
        )}
      </div>
      <RedirectUris key={`uris ${realm.meta.updated_at}`} realm={realm} />
      {realm.purpose === "customers" && <Policies key={`policy ${realm.meta.updated_at}`} realm={realm} />}
    </section>
  );
}
