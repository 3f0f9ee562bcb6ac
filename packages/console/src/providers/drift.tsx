import type { Profile } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { NotOffered } from "../parts/not-offered.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { useMove } from "./carry-over.tsx";

/** Shows a change of the provider's document for approval. Until then sign-ons use the old document. */
export function Drift({ realmId, profile }: { realmId: string; profile: Profile }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const pending = profile.meta.pending_change;
  const { isBusy, error, run, dialog } = useMove(realmId, profile, async (choice) => {
    if (!pending) return;
    await admin.profiles(realmId).approveDrift(profile.id, pending.digest, choice);
    say("The change is approved.");
    await queries.invalidateQueries({ queryKey: ["providers"] });
  });
  if (!pending) return null;
  return (
    <section className="card stack" aria-labelledby="drift">
      <h2 id="drift">The provider has changed</h2>
      <p>
        Noticed <Instant at={pending.since} isExact />. A new issuer or host may be a move that was announced,
        or somebody in between: ask the provider’s administrator before you approve it. Until then the old is
        used.
      </p>
      {pending.changes.map(({ member, before, after }) => (
        <div key={member}>
          <h3>{member}</h3>
          <dl className="diff">
            <dt className="diff-before">before</dt>
            <dd className="diff-before">{before ?? "(none)"}</dd>
            <dt className="diff-after">now</dt>
            <dd className="diff-after">{after ?? "(none)"}</dd>
          </dl>
        </div>
      ))}
      {error !== undefined && <Problem error={error} />}
      {can("administer") ? (
        <p>
          <button type="button" className="button" disabled={isBusy} onClick={() => run()}>
            Approve this change
          </button>
        </p>
      ) : (
        <NotOffered act="administer" />
      )}
      {dialog}
    </section>
  );
}
