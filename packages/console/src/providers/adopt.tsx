import type { Profile } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ConfirmByName } from "../parts/forms/confirm-by-name.tsx";
import { say } from "../parts/text/notices.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { peopleInWords } from "./left-behind.ts";

/**
 * Offers the identities of a removed provider to the same provider after it was added again. Otherwise its
 * people become new customers.
 */
export function Adopt({ realmId, profile }: { realmId: string; profile: Profile }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<string>();
  const adoptable = profile.meta.adoptable ?? [];
  if (adoptable.length === 0 || !can("administer")) return null;
  return (
    <section className="card stack" aria-labelledby="adopt">
      <h2 id="adopt">It was here before</h2>
      <p>
        A provider with the same issuer and client id was removed. Unless this one takes its people over, they
        become new customers when they come back.
      </p>
      {adoptable.map(({ profile_id, identities }) => (
        <div key={profile_id} className="row">
          <span>{peopleInWords(identities)}</span>
          <button
            type="button"
            className="button button-plain button-small"
            onClick={() => setChosen(profile_id)}
          >
            Take them over
          </button>
        </div>
      ))}
      {chosen && (
        <ConfirmByName
          title="Take these people over?"
          name={profile.name}
          what="provider’s name"
          act="Take them over"
          onClose={() => setChosen(undefined)}
          onConfirm={async () => {
            await admin
              .profiles(realmId)
              .update(profile.id, { adopt_identities_of: chosen }, { basedOn: profile });
            say("They stay the customers they are.");
            await queries.invalidateQueries({ queryKey: ["providers"] });
          }}
        >
          <p>Each is let into the account they had before, by the subject that the provider calls them by.</p>
        </ConfirmByName>
      )}
    </section>
  );
}
