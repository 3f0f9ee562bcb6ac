import { DialogDismiss } from "@ariakit/react/dialog";
import { ApiError, type MoveChoice, type Profile } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Choices, Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Modal } from "../parts/forms/modal.tsx";
import { isSameName } from "../parts/forms/same-name.ts";
import { useAct } from "../parts/forms/use-act.ts";
import { useIsForMembers } from "../parts/realms.ts";
import { Problem } from "../parts/text/problem.tsx";
import { type Left, leftBehind, peopleInWords } from "./left-behind.ts";

/**
 * A change that may give the provider another issuer. If people have signed in under the old issuer, the
 * service refuses the change without a choice. The hook then shows the choice, and sends the change again
 * with the answer.
 */
export function useMove(realmId: string, profile: Profile, change: (choice: MoveChoice) => Promise<unknown>) {
  const [asking, setAsking] = useState<{ left: Left; change: typeof change }>();
  const { isBusy, error, run } = useAct(async () => {
    try {
      await change({});
    } catch (refusal) {
      const asked = refusal instanceof ApiError ? leftBehind(refusal) : undefined;
      if (!asked) throw refusal;
      // Keeps the change of the first press: the person has not agreed to data that was fetched later.
      setAsking({ left: asked, change });
    }
  });
  const dialog = asking && (
    <CarryOver
      realmId={realmId}
      profile={profile}
      left={asking.left}
      onClose={() => setAsking(undefined)}
      onChosen={asking.change}
    />
  );
  return { isBusy, error, run, dialog };
}

type Props = {
  realmId: string;
  profile: Profile;
  left: Left;
  onClose: () => void;
  onChosen: (choice: MoveChoice) => Promise<unknown>;
};

type Fate = "carry" | "leave";

const fatesOf = (isForMembers: boolean) =>
  [
    {
      value: "carry",
      label: "Carry them over",
      why: `Everybody stays the ${isForMembers ? "member" : "customer"} they are. Right only if the provider still calls each person by the same subject (sub): ask its administrator.`,
    },
    {
      value: "leave",
      label: "Leave them behind",
      why: `${isForMembers ? "None of them can sign in before they were removed and invited again." : "Whoever comes back is somebody new, without their orders."} Right if it is another provider, or its subjects are others now.`,
    },
  ] as const;

function CarryOver({ realmId, profile, left, onClose, onChosen }: Props) {
  const isForMembers = useIsForMembers(realmId);
  const [fate, setFate] = useState<Fate>("carry");
  const [typed, setTyped] = useState("");
  const isMatch = isSameName(typed, profile.name);
  const { isBusy, error, run } = useAct(
    () =>
      onChosen(
        fate === "carry"
          ? { adopt_identities_of: profile.id, confirm: profile.name }
          : { adopt_identities_of: null },
      ),
    onClose,
  );
  return (
    <Modal title="What becomes of the people who signed in before?" isFirm={isBusy} onClose={onClose}>
      <p>
        <strong>{peopleInWords(left.identities)}</strong> signed in through {profile.name} under its old name.
        Nothing has been changed yet.
      </p>
      <dl className="diff">
        <dt className="diff-before">before</dt>
        <dd className="diff-before">{left.issuer}</dd>
        <dt className="diff-after">from now on</dt>
        <dd className="diff-after">{left.newIssuer ?? "not known yet: it could not be read"}</dd>
      </dl>
      <Form onSubmit={() => isMatch && run()}>
        <Choices
          legend="What becomes of them"
          options={fatesOf(isForMembers)}
          value={fate}
          onChoose={(chosen) => setFate(chosen)}
        />
        <Field
          label={`To go on, type the provider’s name: ${profile.name}`}
          value={typed}
          onType={setTyped}
          autoComplete="off"
          spellCheck={false}
        />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button
            type="submit"
            className={fate === "carry" ? "button" : "button button-bad"}
            disabled={!isMatch || isBusy}
          >
            {fate === "carry" ? "Change it and carry them over" : "Change it and leave them behind"}
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
    </Modal>
  );
}
