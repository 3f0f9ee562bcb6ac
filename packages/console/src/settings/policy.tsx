import type { Realm, RealmChange } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Choices } from "../parts/forms/field.tsx";
import type { Figure } from "../parts/forms/figures.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Overtaken } from "./overtaken.tsx";
import { customersOf, signOnsOfStore } from "./settings-figures.ts";
import { useSaveRealm } from "./use-save-realm.ts";

const DUPLICATES = [
  {
    value: "allowed",
    label: "Keep separate",
    why: "A person who signs in through a provider for the first time becomes a new customer, whatever their e-mail address. No person gets into another person’s account, but some people will have two accounts.",
  },
  {
    value: "api_only",
    label: "Join, if the address is verified",
    why: "A new person whose e-mail the provider has verified gets the existing account with the same verified address. If the provider has not verified it, the sign-on is refused.",
  },
  {
    value: "disallowed",
    label: "Refuse the new sign-on",
    why: "A new person whose e-mail is an existing customer’s verified address cannot sign in this way; they sign in as before, or your support helps. Addresses that are not verified do not count.",
  },
] as const;

const UPDATES = [
  {
    value: "always",
    label: "Update the customer",
    why: "A new name or address at the provider becomes the customer’s at the next sign-on. An address follows only if the rule above allows it. Changes that were made here are overwritten.",
  },
  {
    value: "first",
    label: "Leave the customer unchanged",
    why: "Name and e-mail address are copied at the first sign-on only. Later changes at the provider have no effect here.",
  },
] as const;

/** The realm's policies. Each choice shows its effect. */
export function Policies({ realm }: { realm: Realm }) {
  const admin = useAdmin();
  return (
    <>
      <Policy
        realm={realm}
        title="When a new person has the e-mail of an existing customer"
        save="Save the policy"
        options={DUPLICATES}
        now={realm.duplicate_email_policy}
        change={(duplicate_email_policy) => ({ duplicate_email_policy })}
        confirm={(chosen) => ({
          title: `Change the rule to “${chosen.label}”?`,
          says: `From the next sign-on: ${chosen.why}`,
          figures: [customersOf(admin), signOnsOfStore(admin)],
          act: "Change rule",
        })}
      />
      <Policy
        realm={realm}
        title="When name or e-mail change at the provider"
        save="Save this policy"
        options={UPDATES}
        now={realm.profile_updates}
        change={(profile_updates) => ({ profile_updates })}
      />
    </>
  );
}

type Option<T> = { value: T; label: string; why: string };

type Props<T extends string> = {
  realm: Realm;
  title: string;
  save: string;
  options: readonly Option<T>[];
  now: T;
  change: (chosen: T) => RealmChange;
  /** The texts of the confirmation, if a choice may give people other accounts or refuse them. */
  confirm?: (chosen: Option<T>) => { title: string; says: string; figures: readonly Figure[]; act: string };
};

function Policy<T extends string>({ realm, title, save, options, now, change, confirm }: Props<T>) {
  const can = useCan();
  const saveRealm = useSaveRealm(realm);
  const chosen = useDraft(now);
  const [isConfirming, setConfirming] = useState(false);
  const option = options.find(({ value }) => value === chosen.value);
  const saveIt = async () => {
    await saveRealm(change(chosen.value), "The policy is saved.");
    chosen.settle();
  };
  const { isBusy, error, run } = useAct(saveIt);
  return (
    <div className="form">
      <h3>{title}</h3>
      <Choices
        legend={title}
        options={options}
        value={chosen.value}
        onChoose={chosen.type}
        disabled={!can("administer")}
      />
      <Overtaken
        of={[chosen]}
        inWords={(saved) => options.find(({ value }) => value === saved)?.label ?? saved}
        isBusy={isBusy}
      />
      {error !== undefined && <Problem error={error} />}
      {can("administer") && (
        <div className="form-actions">
          <button
            type="button"
            className="button"
            disabled={isBusy || !chosen.isChanged}
            onClick={() => (confirm ? setConfirming(true) : run())}
          >
            {save}
          </button>
        </div>
      )}
      {isConfirming && confirm && option && (
        <Confirm {...confirm(option)} onClose={() => setConfirming(false)} onConfirm={saveIt} />
      )}
    </div>
  );
}
