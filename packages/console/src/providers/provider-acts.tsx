import type { Profile } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { Confirm } from "../parts/forms/confirm.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { UNREGISTERED } from "../parts/profiles.ts";
import { useIsForMembers } from "../parts/realms.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { MoveProvider } from "./move-provider.tsx";
import { isWithoutSecret, NextSecret } from "./next-secret.tsx";
import { providerFigures } from "./provider-figures.ts";

type Props = { realmId: string; profile: Profile };
type ActProps = Props & { onClose: () => void; onDone: () => Promise<unknown> };

const ACTS = { disable: DisableProvider, secret: NextSecret, move: MoveProvider, remove: RemoveProvider };

/** What an administrator may change. An act that redirects or stops people opens a confirmation. */
export function ProviderActs({ realmId, profile }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [open, setOpen] = useState<keyof typeof ACTS>();
  const stale = () => queries.invalidateQueries({ queryKey: ["providers"] });
  const { isBusy, error, run } = useAct(async () => {
    await admin.profiles(realmId).update(profile.id, { enabled: true }, { basedOn: profile });
    say(`${profile.name} is enabled.`);
    await stale();
  });
  const Opened = open && ACTS[open];
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <div className="row">
        {!isWithoutSecret(profile) && (
          <button
            type="button"
            className="button button-plain"
            disabled={isBusy}
            onClick={() => (profile.enabled ? setOpen("disable") : run())}
          >
            {profile.enabled ? "Disable" : "Enable"}
          </button>
        )}
        {profile.client_id !== UNREGISTERED && (
          <button type="button" className="button button-plain" onClick={() => setOpen("secret")}>
            {isWithoutSecret(profile) ? "Enter the client secret" : "Change the client secret"}
          </button>
        )}
        <button type="button" className="button button-plain" onClick={() => setOpen("move")}>
          Change address and client
        </button>
        <button type="button" className="button button-bad-plain" onClick={() => setOpen("remove")}>
          Remove
        </button>
      </div>
      {Opened && (
        <Opened realmId={realmId} profile={profile} onClose={() => setOpen(undefined)} onDone={stale} />
      )}
    </>
  );
}

function DisableProvider({ realmId, profile, onClose, onDone }: ActProps) {
  const admin = useAdmin();
  const isForMembers = useIsForMembers(realmId);
  return (
    <Confirm
      title={`Disable ${profile.name}?`}
      says={
        isForMembers
          ? "People cannot sign in through it until you enable it again. Members who signed in through it are signed out within a second, perhaps you too: then only a key can enable it."
          : "People cannot sign in through it until you enable it again. Customers who are signed in stay signed in."
      }
      figures={providerFigures(admin, realmId, profile)}
      act="Disable provider"
      onClose={onClose}
      onConfirm={async () => {
        await admin.profiles(realmId).update(profile.id, { enabled: false }, { basedOn: profile });
        say(`${profile.name} is disabled.`);
        await onDone();
      }}
    />
  );
}

export function RemoveProvider({ realmId, profile, onClose, onDone }: ActProps) {
  const admin = useAdmin();
  const [, go] = useLocation();
  const isForMembers = useIsForMembers(realmId);
  return (
    <Confirm
      title={`Remove ${profile.name}?`}
      says={`Everyone who signed in through it is signed out at once, and cannot sign in through it any more. ${
        isForMembers
          ? "Members who came through it must be removed and invited again, even if another provider replaces it."
          : "The customers stay."
      }`}
      figures={providerFigures(admin, realmId, profile)}
      act="Remove provider"
      name={{ what: "provider’s name", is: profile.name }}
      onClose={onClose}
      onConfirm={async () => {
        await admin.profiles(realmId).delete(profile.id);
        say(`${profile.name} is removed.`);
        go("/providers");
        await onDone();
      }}
    />
  );
}
