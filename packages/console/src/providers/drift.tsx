import type { Profile } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { useMove } from "./carry-over.tsx";
import { providerFigures } from "./provider-figures.ts";

type Pending = NonNullable<Profile["meta"]["pending_change"]>;

/** Shows a change of the provider's document for approval. Until then sign-ons use the old document. */
export function Drift({ realmId, profile }: { realmId: string; profile: Profile }) {
  const can = useCan();
  const [approving, setApproving] = useState<Pending>();
  const pending = profile.meta.pending_change;
  return (
    <>
      {pending && (
        <section className="card stack" aria-labelledby="drift">
          <h2 id="drift">The provider has changed</h2>
          <p>
            Noticed <Instant at={pending.since} isExact />. A new issuer or host may be an announced move, or
            an attack: ask the provider’s administrator before you approve it. Until then sign-ons use the old
            values.
          </p>
          <Changes of={pending} />
          {can("administer") ? (
            <p>
              <button type="button" className="button" onClick={() => setApproving(pending)}>
                Approve this change
              </button>
            </p>
          ) : (
            <NotOffered act="administer" />
          )}
        </section>
      )}
      {approving && (
        <Approve
          realmId={realmId}
          profile={profile}
          pending={approving}
          onClose={() => setApproving(undefined)}
        />
      )}
    </>
  );
}

const Changes = ({ of: { changes } }: { of: Pending }) =>
  changes.map(({ member, before, after }) => (
    <div key={member}>
      <h3>{member}</h3>
      <dl className="diff">
        <dt className="diff-before">before</dt>
        <dd className="diff-before">{before ?? "(none)"}</dd>
        <dt className="diff-after">now</dt>
        <dd className="diff-after">{after ?? "(none)"}</dd>
      </dl>
    </div>
  ));

/** `pending`: the change as it was when the dialog opened. The service approves that change and no other. */
type ApproveProps = { realmId: string; profile: Profile; pending: Pending; onClose: () => void };

function Approve({ realmId, profile, pending, onClose }: ApproveProps) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const { move, dialog } = useMove(realmId, profile, async (choice) => {
    await admin.profiles(realmId).approveDrift(profile.id, pending.digest, choice);
    say("The change is approved.");
    onClose();
    await queries.invalidateQueries({ queryKey: ["providers"] });
  });
  return (
    <Confirm
      title={`Approve the change of ${profile.name}?`}
      says="From the next sign-on, Latchkey uses the new values and trusts the new hosts to say who a person is."
      figures={providerFigures(admin, realmId, profile)}
      act="Approve change"
      onClose={onClose}
      // The change closes the dialog, because the question about the people opens above it.
      onDone={() => {}}
      onConfirm={move}
    >
      <div className="stack">
        <Changes of={pending} />
      </div>
      {dialog}
    </Confirm>
  );
}
