import type { Realm } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Choices } from "../parts/field.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { say } from "../parts/notices.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/use-act.ts";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";

const POLICIES = [
  {
    value: "allowed",
    label: "They are two customers",
    why: "Whoever comes through a provider for the first time becomes a new customer, whatever their e-mail. Nobody gets into an account that is not theirs; some people will have two.",
  },
  {
    value: "api_only",
    label: "They are one, where the address was proven",
    why: "Somebody new whose e-mail the provider has verified is let into the existing account with the same proven address.",
  },
  {
    value: "disallowed",
    label: "The second one is refused",
    why: "Somebody new whose e-mail is taken cannot sign in, and is told why. Support has to sort it out.",
  },
] as const;

/** What to do when two people have one e-mail, with what each choice leads to. */
export function Policy({ realm }: { realm: Realm }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [policy, setPolicy] = useState(realm.duplicate_email_policy);
  const { isBusy, error, run } = useAct(async () => {
    await admin.realms.update(realm.id, { duplicate_email_policy: policy });
    say("The policy is saved.");
    await queries.invalidateQueries({ queryKey: ["realms"] });
  });
  return (
    <div className="form">
      <h3>When somebody new has the e-mail of an existing customer</h3>
      <Choices
        legend="When somebody new has the e-mail of an existing customer"
        options={POLICIES}
        value={policy}
        onChoose={setPolicy}
        disabled={!can("administer")}
      />
      {error !== undefined && <Problem error={error} />}
      {can("administer") ? (
        <div className="form-actions">
          <button
            type="button"
            className="button"
            disabled={isBusy || policy === realm.duplicate_email_policy}
            onClick={() => run()}
          >
            Save the policy
          </button>
        </div>
      ) : (
        <NotOffered act="administer" />
      )}
    </div>
  );
}
