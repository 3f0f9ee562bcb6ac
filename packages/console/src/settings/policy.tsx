import type { Realm, RealmChange } from "@latchkey/sdk/admin";
import { Choices } from "../parts/forms/field.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { NotOffered } from "../parts/not-offered.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { Overtaken } from "./overtaken.tsx";
import { useSaveRealm } from "./use-save-realm.ts";

const DUPLICATES = [
  {
    value: "allowed",
    label: "They are two customers",
    why: "Whoever comes through a provider for the first time becomes a new customer, whatever their e-mail. Nobody gets into an account that is not theirs; some people will have two.",
  },
  {
    value: "api_only",
    label: "They are one, where the address was proven",
    why: "Somebody new whose e-mail the provider has verified is let into the existing account with the same proven address. Where the provider has not verified it, they are refused.",
  },
  {
    value: "disallowed",
    label: "The second one is refused",
    why: "Somebody new whose e-mail an existing customer has proven cannot sign in, and is told why. Support has to sort it out. An address that nobody has proven keeps nobody out.",
  },
] as const;

const UPDATES = [
  {
    value: "always",
    label: "The customer follows",
    why: "A new name or address at the provider is the customer’s from the next sign-on on. An address follows only where the rule above would let it in. What somebody changed here by hand is overwritten.",
  },
  {
    value: "first",
    label: "The customer stays as they are",
    why: "Name and e-mail are taken over at the first sign-on alone. Who marries or moves at the provider keeps the old ones here, until somebody changes them.",
  },
] as const;

/** The realm's policies. Each choice shows its effect. */
export function Policies({ realm }: { realm: Realm }) {
  return (
    <>
      <Policy
        realm={realm}
        title="When somebody new has the e-mail of an existing customer"
        save="Save the policy"
        options={DUPLICATES}
        now={realm.duplicate_email_policy}
        change={(duplicate_email_policy) => ({ duplicate_email_policy })}
      />
      <Policy
        realm={realm}
        title="When name or e-mail change at the provider"
        save="Save what follows"
        options={UPDATES}
        now={realm.profile_updates}
        change={(profile_updates) => ({ profile_updates })}
      />
    </>
  );
}

type Props<T extends string> = {
  realm: Realm;
  title: string;
  save: string;
  options: readonly { value: T; label: string; why: string }[];
  now: T;
  change: (chosen: T) => RealmChange;
};

function Policy<T extends string>({ realm, title, save, options, now, change }: Props<T>) {
  const can = useCan();
  const saveRealm = useSaveRealm(realm);
  const chosen = useDraft(now);
  const { isBusy, error, run } = useAct(async () => {
    await saveRealm(change(chosen.value), "The policy is saved.");
    chosen.settle();
  });
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
      {can("administer") ? (
        <div className="form-actions">
          <button
            type="button"
            className="button"
            disabled={isBusy || !chosen.isChanged}
            onClick={() => run()}
          >
            {save}
          </button>
        </div>
      ) : (
        <NotOffered act="administer" />
      )}
    </div>
  );
}
