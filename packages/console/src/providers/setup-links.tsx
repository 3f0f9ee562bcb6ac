import type { SetupLink, SetupLinkWithUrl } from "@latchkey/sdk/admin";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Copyable } from "../parts/forms/copy.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { exactly } from "../parts/text/instants.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";

type Props = { realmId: string; profileId: string };

const useLinks = ({ realmId, profileId }: Props) => {
  const admin = useAdmin();
  return admin.profiles(realmId).setupLinks(profileId);
};

/** The service refuses a sixth link that works. */
const MOST = 5;

/** Links to a page for the provider's administrator, who has no account here. All roles see the list. */
export function SetupLinks(props: Props) {
  const links = useLinks(props);
  const can = useCan();
  const queries = useQueryClient();
  const [made, setMade] = useState<SetupLinkWithUrl>();
  const query = useQuery({
    queryKey: ["setup-links", props.profileId],
    queryFn: async () => (await links.list()).data,
    // An expired link leaves the list by itself.
    refetchInterval: 60_000,
  });
  const stale = () => queries.invalidateQueries({ queryKey: ["setup-links", props.profileId] });
  const isFull = (query.data?.length ?? 0) >= MOST;
  return (
    <div className="stack">
      {can("administer") &&
        (isFull ? (
          <p className="hint">Five links is the most. End one to create another.</p>
        ) : (
          <NewLink
            {...props}
            onMade={(link) => {
              setMade(link);
              void stale();
            }}
          />
        ))}
      {made && query.data?.some(({ id }) => id === made.id) !== false && <Made link={made} />}
      <Asked
        query={query}
        skeleton={<SkeletonRows rows={2} />}
        empty={(list) => list.length === 0 && <p className="quiet">No set-up link works now.</p>}
      >
        {(list) => (
          <ul className="list" aria-label="Set-up links">
            {list.map((link) => (
              <li key={link.id}>
                <LinkItem {...props} link={link} onEnded={stale} />
              </li>
            ))}
          </ul>
        )}
      </Asked>
    </div>
  );
}

const DAYS = [1, 3, 7, 14, 30];

function NewLink({ onMade, ...props }: Props & { onMade: (link: SetupLinkWithUrl) => void }) {
  const links = useLinks(props);
  const id = useId();
  const [days, setDays] = useState(7);
  const { isBusy, error, run } = useAct(async () =>
    onMade((await links.create({ expires_in_days: days })).data),
  );
  return (
    <div className="stack">
      <div className="row row-end">
        <div className="field">
          <label htmlFor={id}>The link works for</label>
          <select
            id={id}
            className="input"
            value={days}
            onChange={(event) => setDays(Number(event.target.value))}
          >
            {DAYS.map((count) => (
              <option key={count} value={count}>
                {count === 1 ? "1 day" : `${count} days`}
              </option>
            ))}
          </select>
        </div>
        <button type="button" className="button button-plain" disabled={isBusy} onClick={() => run()}>
          {isBusy ? "Creating…" : "Create a set-up link"}
        </button>
      </div>
      {error !== undefined && <Problem error={error} />}
    </div>
  );
}

const Made = ({ link }: { link: SetupLinkWithUrl }) => (
  <div className="hint hint-good stack-tight" role="status">
    <p>
      <strong>Copy the link now: it is shown only here.</strong> Send it to the provider’s administrator
      alone, because everyone who has it can open the page.
    </p>
    <Copyable text={link.url} what="set-up link" />
  </div>
);

type ItemProps = Props & { link: SetupLink; onEnded: () => Promise<unknown> };

function LinkItem({ link, onEnded, ...props }: ItemProps) {
  const links = useLinks(props);
  const can = useCan();
  const [isEnding, setEnding] = useState(false);
  return (
    <div className="item">
      <span className="item-words">
        Expires <Instant at={link.expires_at} isExact isAhead />
      </span>
      <span className="item-side">
        <span>
          created <Instant at={link.meta.timestamps.created_at} />
        </span>
        {can("administer") && (
          <button
            type="button"
            className="button button-bad-plain button-small"
            aria-label={`End the link that expires ${exactly(link.expires_at)}`}
            onClick={() => setEnding(true)}
          >
            End
          </button>
        )}
      </span>
      {isEnding && (
        <Confirm
          title="End this set-up link?"
          says="Its page is gone at once. The provider’s administrator then needs a new link."
          act="End link"
          onClose={() => setEnding(false)}
          onConfirm={async () => {
            await links.delete(link.id);
            say("The link is ended.");
            await onEnded();
          }}
        />
      )}
    </div>
  );
}
