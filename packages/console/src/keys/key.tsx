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
  const query = useQuery({
    queryKey: ["keys", id],
    queryFn: async () => (await admin.applicationKeys.get(id)).data,
  });
  return (
    <Screen title={query.data?.name ?? "Key"} crumb={{ to: "/keys", label: "Keys" }}>
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
      <section className="card" aria-label="What it is">
        <dl className="facts">
          <dt>Client id</dt>
          <dd>
            <code>{key.client_id}</code> <Copy text={key.client_id} what="client id" word />
          </dd>
          <dt>Role</dt>
          <dd>{key.role}</dd>
          <dt>OpenID client</dt>
          <dd>{key.openid_client === "standard" ? "standard: PKCE or a nonce" : "PKCE and e-mail"}</dd>
          <dt>Limit</dt>
          <dd>{reservedInWords(key)}</dd>
          <dt>Last used</dt>
          <dd>
            <Instant at={last_used_at} isExact />
          </dd>
          <dt>Made</dt>
          <dd>
            <Instant at={created_at} isExact />
          </dd>
          <dt>Id</dt>
          <dd>
            <code>{key.id}</code> <Copy text={key.id} what="id of the key" word />
          </dd>
        </dl>
      </section>
      <section className="stack" aria-labelledby="secrets">
        <h2 id="secrets">Secrets that work</h2>
        <Items items={key.meta.secrets} keyOf={({ created_at: at }) => at}>
          {(secret) => (
            <div className="item">
              <span className="item-words">
                made <Instant at={secret.created_at} isExact />
                <br />
                <span className="quiet small">
                  last used <Instant at={secret.last_used_at} isExact />
                </span>
              </span>
              <span className="item-side">
                {secret.expires_at !== null && (
                  <span>
                    ends <Instant at={secret.expires_at} isExact isAhead />
                  </span>
                )}
              </span>
            </div>
          )}
        </Items>
      </section>
      <section className="stack" aria-labelledby="change">
        <h2 id="change">Change</h2>
        {can("administer") ? (
          <KeyActs value={key} onDeleted={() => go("/keys")} />
        ) : (
          <NotOffered act="administer" />
        )}
      </section>
    </div>
  );
}
