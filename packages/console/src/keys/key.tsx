import type { ApplicationKey } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useLocation, useParams } from "wouter";
import { Copy } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { Items } from "../parts/lists/items.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { KeyActs } from "./key-acts.tsx";
import { reservedInWords } from "./shares.ts";

export function KeyScreen() {
  const { id = "" } = useParams<{ id: string }>();
  const admin = useAdmin();
  const can = useCan();
  const query = useQuery({
    queryKey: ["keys", id],
    queryFn: async () => (await admin.applicationKeys.get(id)).data,
  });
  return (
    <Screen
      title={query.data?.name ?? "Key"}
      crumb={{ to: "/keys", label: "Keys" }}
      actions={!can("administer") && <NotOffered act="administer" />}
    >
      <Asked query={query}>{(key) => <Shown value={key} />}</Asked>
    </Screen>
  );
}

function Shown({ value: key }: { value: ApplicationKey }) {
  const can = useCan();
  const [, go] = useLocation();
  const { created_at, last_used_at } = key.meta.timestamps;
  return (
    <div className="stack-wide">
      <section className="card" aria-label="Facts">
        <dl className="facts">
          <dt>Client ID</dt>
          <dd>
            <code>{key.client_id}</code> <Copy text={key.client_id} what="client ID" word />
          </dd>
          <dt>Role</dt>
          <dd>{key.role}</dd>
          <dt>OpenID client</dt>
          <dd>
            {key.openid_client === "standard"
              ? "Standard: requires PKCE or a nonce"
              : "Requires PKCE and the scope email"}
          </dd>
          <dt>Limit</dt>
          <dd>{reservedInWords(key)}</dd>
          <dt>Last used</dt>
          <dd>
            <Instant at={last_used_at} never="never used" isExact />
          </dd>
          <dt>Created</dt>
          <dd>
            <Instant at={created_at} isExact />
          </dd>
          <dt>ID</dt>
          <dd>
            <code>{key.id}</code> <Copy text={key.id} what="ID of the key" word />
          </dd>
        </dl>
      </section>
      <section className="stack" aria-labelledby="secrets">
        <h2 id="secrets">Valid secrets</h2>
        <Items items={key.meta.secrets} keyOf={({ created_at: at }) => at}>
          {(secret) => (
            <div className="item">
              <span className="item-words">
                created <Instant at={secret.created_at} isExact />
                <br />
                <span className="quiet small">
                  {secret.last_used_at !== null && "last used "}
                  <Instant at={secret.last_used_at} never="never used" isExact />
                </span>
              </span>
              <span className="item-side">
                {secret.expires_at !== null && (
                  <span>
                    expires <Instant at={secret.expires_at} isExact isAhead />
                  </span>
                )}
              </span>
            </div>
          )}
        </Items>
      </section>
      {can("administer") && (
        <section className="stack" aria-labelledby="change">
          <h2 id="change">Change</h2>
          <KeyActs value={key} onDeleted={() => go("/keys")} />
        </section>
      )}
    </div>
  );
}
