import type { Profile } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { useAct } from "../parts/forms/use-act.ts";
import { useIsForMembers } from "../parts/realms.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { Doctor } from "../providers/doctor.tsx";
import { TestSignOn } from "../providers/test-sign-on.tsx";
import { useAdmin } from "../session/session.ts";

/** The last step: its button enables the provider, so that shoppers can choose it. */
export function Finish({ realmId, profile }: { realmId: string; profile: Profile }) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const isForMembers = useIsForMembers(realmId);
  const { isBusy, error, run } = useAct(async () => {
    await admin.profiles(realmId).update(profile.id, { enabled: true }, { basedOn: profile });
    await queries.invalidateQueries({ queryKey: ["providers"] });
    say(`${isForMembers ? "Members" : "Shoppers"} can sign in through ${profile.name}.`);
    go(`/realms/${realmId}/providers/${profile.id}`);
  });
  return (
    <div className="form">
      <h2>Does it meet the nine requirements?</h2>
      <p className="quiet">Some can only be told at a real sign-on; they are checked at each one.</p>
      <Doctor realmId={realmId} profileId={profile.id} />
      <h2>Does a person come through?</h2>
      <p className="quiet">
        Sign in once yourself. Every check is shown here, with both sides, and nothing comes of it.
      </p>
      <TestSignOn realmId={realmId} profile={profile} />
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        {profile.enabled ? (
          <p>
            People can sign in through it.{" "}
            <Link href={`/realms/${realmId}/providers/${profile.id}`}>Open {profile.name}</Link>
          </p>
        ) : (
          <button type="button" className="button" disabled={isBusy} onClick={() => run()}>
            Finish: let people sign in
          </button>
        )}
      </div>
    </div>
  );
}
