import { ApiError, type MoveChoice, type Profile } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Choices } from "../parts/forms/field.tsx";
import { useIsForMembers } from "../parts/realms.ts";
import { type Left, leftBehind, peopleInWords } from "./left-behind.ts";

/**
 * A change that may give the provider another issuer. If people have signed in under the old issuer, the
 * service refuses the change without a choice. The hook then shows the choice above the dialog of the change,
 * and sends the change again with the answer. The change closes that dialog.
 */
export function useMove(realmId: string, profile: Profile, change: (choice: MoveChoice) => Promise<unknown>) {
  const [asking, setAsking] = useState<{ left: Left; change: typeof change }>();
  const move = async () => {
    try {
      await change({});
    } catch (refusal) {
      const asked = refusal instanceof ApiError ? leftBehind(refusal) : undefined;
      if (!asked) throw refusal;
      // Keeps the change of the first press: the person has not agreed to data that was fetched later.
      setAsking({ left: asked, change });
    }
  };
  const dialog = asking && (
    <CarryOver
      realmId={realmId}
      profile={profile}
      left={asking.left}
      onClose={() => setAsking(undefined)}
      onChosen={asking.change}
    />
  );
  return { move, dialog };
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
      why: `Everyone stays the ${isForMembers ? "member" : "customer"} they are. Right only if the provider still calls each person by the same subject (sub): ask its administrator.`,
    },
    {
      value: "leave",
      label: "Leave them behind",
      why: `${isForMembers ? "None of them can sign in until they are removed and invited again." : "People who come back become new customers, without their orders."} Right if it is another provider, or its subjects are others now.`,
    },
  ] as const;

function CarryOver({ realmId, profile, left, onClose, onChosen }: Props) {
  const isForMembers = useIsForMembers(realmId);
  const [fate, setFate] = useState<Fate>("carry");
  return (
    <Confirm
      title="What becomes of the people who signed in before?"
      says={
        <>
          <strong>{peopleInWords(left.identities)}</strong> signed in through {profile.name} under its old
          issuer. Nothing has been changed yet.
        </>
      }
      act={fate === "carry" ? "Change it and carry them over" : "Change it and leave them behind"}
      isMild={fate === "carry"}
      name={{ what: "provider’s name", is: profile.name }}
      onClose={onClose}
      onConfirm={() =>
        onChosen(
          fate === "carry"
            ? { adopt_identities_of: profile.id, confirm: profile.name }
            : { adopt_identities_of: null },
        )
      }
    >
      <dl className="diff">
        <dt className="diff-before">before</dt>
        <dd className="diff-before">{left.issuer}</dd>
        <dt className="diff-after">from now on</dt>
        <dd className="diff-after">{left.newIssuer ?? "not known yet: it could not be read"}</dd>
      </dl>
      <Choices
        legend="What becomes of them"
        options={fatesOf(isForMembers)}
        value={fate}
        onChoose={(chosen) => setFate(chosen)}
      />
    </Confirm>
  );
}
