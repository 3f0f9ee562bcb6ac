import type { Profile } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { say } from "../parts/text/notices.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { peopleInWords } from "./left-behind.ts";
import { signOnsThrough } from "./provider-figures.ts";

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
  const count = adoptable.find(({ profile_id }) => profile_id === chosen)?.identities ?? 0;
  if (adoptable.length === 0 || !can("administer")) return null;
  return (
    <section className="card stack" aria-labelledby="adopt">
      <h2 id="adopt">This provider was here before</h2>
      <p>
        A provider with the same issuer and client ID was removed. Unless this one takes its people over, they
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
        <Confirm
          title={`Let these people into their accounts through ${profile.name}?`}
          says="Each person who signs in through this provider gets the account they had before, if the provider sends the same subject for them."
          figures={[signOnsThrough(admin, profile)]}
          act="Take them over"
          name={{ what: "provider’s name", is: profile.name }}
          onClose={() => setChosen(undefined)}
          onConfirm={async () => {
            await admin
              .profiles(realmId)
              .update(profile.id, { adopt_identities_of: chosen }, { basedOn: profile });
            say("They stay the customers they are.");
            await queries.invalidateQueries({ queryKey: ["providers"] });
          }}
        >
          <p>
            <strong>{peopleInWords(count)}</strong> signed in through the removed provider.
          </p>
        </Confirm>
      )}
    </section>
  );
}
