import type { ApplicationKey } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Link } from "wouter";
import { Asked } from "../parts/asked.tsx";
import { Copy } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Instant } from "../parts/instant.tsx";
import { Listing } from "../parts/items.tsx";
import { useListed } from "../parts/listed.ts";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { SkeletonBlock } from "../parts/skeleton.tsx";
import { useUsage } from "../parts/usage.ts";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { ChangeKeyRole, DeleteKey, RotateKey } from "./change-key.tsx";
import { CreateKey } from "./create-key.tsx";
import { Floors } from "./floors.tsx";

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
  const [open, setOpen] = useState<"role" | "rotate" | "delete">();
  const close = () => setOpen(undefined);
  const ending = key.meta.secrets.filter(({ expires_at }) => expires_at !== null);
  return (
    <div className="item">
      <div className="item-words">
        <p className="item-name">{key.name}</p>
        <p className="quiet small">
          <code>{key.client_id}</code> <Copy text={key.client_id} what={`client id of ${key.name}`} word />
        </p>
        <p className="quiet small number">
          {key.role} ·{" "}
          {key.reserved_rate_limit === 0
            ? "nothing reserved"
            : `${key.reserved_rate_limit} a second reserved`}{" "}
          · last used <Instant at={key.meta.timestamps.last_used_at} />
        </p>
        {ending.map(({ created_at, expires_at, last_used_at }) => (
          <p key={created_at} className="small">
            An older secret ends <Instant at={expires_at} />; last used <Instant at={last_used_at} />.
          </p>
        ))}
      </div>
      <div className="item-side">
        {can("administer") && (
          <span className="row">
            <Link className="button button-plain button-small" href={`/planner?key=${key.id}`}>
              Plan<span className="only-read-out"> for {key.name}</span>
            </Link>
            <button
              type="button"
              className="button button-plain button-small"
              onClick={() => setOpen("role")}
            >
              Change role<span className="only-read-out"> of {key.name}</span>
            </button>
            <button
              type="button"
              className="button button-plain button-small"
              onClick={() => setOpen("rotate")}
            >
              Rotate secret<span className="only-read-out"> of {key.name}</span>
            </button>
            <button
              type="button"
              className="button button-bad-plain button-small"
              onClick={() => setOpen("delete")}
            >
              Delete<span className="only-read-out"> {key.name}</span>
            </button>
          </span>
        )}
      </div>
      {open === "role" && <ChangeKeyRole value={key} onClose={close} />}
      {open === "rotate" && <RotateKey value={key} onClose={close} />}
      {open === "delete" && <DeleteKey value={key} onClose={close} />}
    </div>
  );
}
