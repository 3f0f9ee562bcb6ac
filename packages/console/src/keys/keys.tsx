import type { ApplicationKey } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Link } from "wouter";
import { useUsage } from "../parts/charts/usage.ts";
import { Copy } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { SkeletonBlock } from "../parts/lists/skeleton.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { CreateKey } from "./create-key.tsx";
import { Floors } from "./floors.tsx";
import { KeyActs } from "./key-acts.tsx";
import { reservedInWords } from "./shares.ts";

export function Keys() {
  const admin = useAdmin();
  const can = useCan();
  const usage = useUsage();
  const keys = useListed(["keys"], (page) => admin.applicationKeys.list(page), { limit: 50 });
  const [isCreating, setCreating] = useState(false);
  return (
    <Screen
      title="Keys"
      lead="Each of the store’s programs has a key of its own. What a key has reserved, nobody else can take from it."
      actions={
        can("administer") ? (
          <button type="button" className="button" onClick={() => setCreating(true)}>
            Create a key
          </button>
        ) : (
          <NotOffered act="administer" />
        )
      }
    >
      <div className="stack-wide">
        <section className="card" aria-labelledby="floors">
          <div className="card-head">
            <h2 id="floors">The store’s limit</h2>
            <span className="quiet">
              {usage.data ? `${usage.data.rate_limit.toLocaleString("en")} requests a second` : ""}
            </span>
          </div>
          <Asked query={usage} skeleton={<SkeletonBlock />}>
            {(data) => <Floors usage={data} />}
          </Asked>
        </section>
        <Listing
          query={keys}
          empty={
            <Empty title="No key">
              A key is what a program shows to be let in. Create one for each program.
            </Empty>
          }
        >
          {(key) => <KeyItem value={key} />}
        </Listing>
      </div>
      {isCreating && <CreateKey onClose={() => setCreating(false)} />}
    </Screen>
  );
}

function KeyItem({ value: key }: { value: ApplicationKey }) {
  const can = useCan();
  const ending = key.meta.secrets.filter(({ expires_at }) => expires_at !== null);
  return (
    <div className="item">
      <div className="item-words">
        <p>
          <Link className="item-name" href={`/keys/${key.id}`}>
            {key.name}
          </Link>
        </p>
        <p className="quiet small">
          <code>{key.client_id}</code> <Copy text={key.client_id} what={`client id of ${key.name}`} word />
        </p>
        <p className="quiet small number">
          {key.role} · {reservedInWords(key)} · last used <Instant at={key.meta.timestamps.last_used_at} />
        </p>
        {ending.map(({ created_at, expires_at, last_used_at }) => (
          <p key={created_at} className="small">
            An older secret ends <Instant at={expires_at} />; last used <Instant at={last_used_at} />.
          </p>
        ))}
      </div>
      <div className="item-side">{can("administer") && <KeyActs value={key} />}</div>
    </div>
  );
}
