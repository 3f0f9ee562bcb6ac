import type { ApplicationKey } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Link } from "wouter";
import { useUsage } from "../parts/charts/usage.ts";
import { Copy } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { SkeletonBlock } from "../parts/lists/skeleton.tsx";
import { type Column, TableListing } from "../parts/lists/table.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { CreateKey } from "./create-key.tsx";
import { Floors } from "./floors.tsx";
import { KeyActs } from "./key-acts.tsx";

export function Keys() {
  const admin = useAdmin();
  const can = useCan();
  const usage = useUsage();
  const keys = useListed(["keys"], (page) => admin.applicationKeys.list(page), { limit: 50 });
  const [isCreating, setCreating] = useState(false);
  return (
    <Screen
      title="Keys"
      lead="Each of the store’s programs has a key of its own. No other key can use the rate that a key has reserved."
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
        <TableListing
          label="Keys"
          columns={can("administer") ? [...COLUMNS, ACTS] : COLUMNS}
          query={keys}
          head={(found) => (
            <ListHead found={found}>
              <ExportCsv name="application-keys" read={(options) => admin.applicationKeys.csv(options)} />
            </ListHead>
          )}
          empty={
            <Empty title="No key">
              A key is what a program shows to be let in. Create one for each program.
            </Empty>
          }
        />
      </div>
      {isCreating && <CreateKey onClose={() => setCreating(false)} />}
    </Screen>
  );
}

const COLUMNS: readonly Column<ApplicationKey>[] = [
  {
    title: "Name",
    cell: ({ id, name, client_id }) => (
      <>
        <Link className="item-name" href={`/keys/${id}`}>
          {name}
        </Link>
        <span className="table-under">
          <code>{client_id}</code> <Copy text={client_id} what={`client id of ${name}`} word />
        </span>
      </>
    ),
  },
  { title: "Role", kind: "short", cell: ({ role }) => role },
  {
    title: "Reserved",
    kind: "short",
    cell: ({ reserved_rate_limit: reserved }) =>
      reserved === 0 ? "nothing" : `${reserved.toLocaleString("en")} a second`,
  },
  {
    title: "Last used",
    cell: (key) => (
      <>
        <Instant at={key.meta.timestamps.last_used_at} />
        <OlderSecrets of={key} />
      </>
    ),
  },
];

const ACTS: Column<ApplicationKey> = {
  title: "Actions",
  kind: "acts",
  cell: (key) => <KeyActs value={key} />,
};

function OlderSecrets({ of: { meta } }: { of: ApplicationKey }) {
  return meta.secrets
    .filter(({ expires_at }) => expires_at !== null)
    .map(({ created_at, expires_at, last_used_at }) => (
      <span key={created_at} className="table-under">
        An older secret ends <Instant at={expires_at} isAhead />; last used <Instant at={last_used_at} />.
      </span>
    ));
}
