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
  const people = useIsForMembers(realmId) ? "members" : "shoppers";
  const { isBusy, error, run } = useAct(async () => {
    await admin.profiles(realmId).update(profile.id, { enabled: true }, { basedOn: profile });
    await queries.invalidateQueries({ queryKey: ["providers"] });
    say(`${profile.name} is enabled: ${people} can sign in.`);
    go(`/realms/${realmId}/providers/${profile.id}`);
  });
  return (
    <div className="form">
      <h2>Does it meet the nine requirements?</h2>
      <p className="quiet">Some are checked at the first sign-on, because no document shows them.</p>
      <Doctor realmId={realmId} profileId={profile.id} />
      <section className="part" aria-labelledby="try">
        <div className="stack-tight">
          <h2 id="try">Does a sign-on work?</h2>
          <p className="quiet">
            Sign in once yourself. Every check is shown here, with both sides. No customer or token is
            created.
          </p>
        </div>
        <TestSignOn realmId={realmId} profile={profile} />
      </section>
      <section className="part" aria-labelledby="enable">
        <h2 id="enable">{profile.enabled ? `${profile.name} is enabled` : `Let ${people} sign in`}</h2>
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          {profile.enabled ? (
            <Link href={`/realms/${realmId}/providers/${profile.id}`}>Open {profile.name}</Link>
          ) : (
            <button type="button" className="button" disabled={isBusy} onClick={() => run()}>
              {isBusy ? "Enabling…" : `Enable ${profile.name}`}
            </button>
          )}
        </div>
      </section>
    </div>
  );
}
