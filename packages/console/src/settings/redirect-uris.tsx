import type { Realm } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Overtaken } from "./overtaken.tsx";
import { judgeAll } from "./redirect-uri.ts";
import { returnsTo } from "./settings-figures.ts";
import { useSaveRealm } from "./use-save-realm.ts";

const MOST = 50;

export function RedirectUris({ realm }: { realm: Realm }) {
  const can = useCan();
  return can("administer") ? (
    <Changeable realm={realm} />
  ) : (
    <div className="stack">
      <h3>Redirect URIs</h3>
      <ul>
        {realm.redirect_uris.map((uri) => (
          <li key={uri}>
            <code>{uri}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Changeable({ realm }: { realm: Realm }) {
  const saveRealm = useSaveRealm(realm);
  const draft = useDraft(realm.redirect_uris);
  const uris = draft.value;
  const faults = judgeAll(uris);
  const isGood = faults.every((fault) => fault === undefined);
  const [isConfirming, setConfirming] = useState(false);
  const removed = realm.redirect_uris.filter((uri) => !uris.includes(uri));
  const saveIt = async () => {
    await saveRealm({ redirect_uris: uris }, "The redirect URIs are saved.");
    draft.settle();
  };
  const { isBusy, error, run } = useAct(saveIt);
  return (
    <Form onSubmit={() => isGood && (removed.length > 0 ? setConfirming(true) : run())}>
      <div>
        <h3>Redirect URIs</h3>
        <p className="quiet">
          {realm.purpose === "members"
            ? "The address of this console, to which members return. Without it, no member can sign in here."
            : "The addresses of your storefront to which shoppers may return. Each must match exactly."}
        </p>
      </div>
      {uris.length === 0 && (
        <p className="hint hint-warn">There is no redirect URI yet, so no sign-on can succeed.</p>
      )}
      <Lines uris={uris} faults={faults} onChange={draft.type} />
      <Overtaken of={[draft]} inWords={(saved) => saved.join(", ")} isBusy={isBusy} />
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button
          type="button"
          className="button button-plain"
          disabled={uris.length >= MOST}
          onClick={() => draft.type([...uris, ""])}
        >
          Add a redirect URI
        </button>
        <button type="submit" className="button" disabled={!draft.isChanged || !isGood || isBusy}>
          Save the redirect URIs
        </button>
      </div>
      {isConfirming && (
        <RemoveUris realm={realm} removed={removed} onClose={() => setConfirming(false)} onConfirm={saveIt} />
      )}
    </Form>
  );
}

type LinesProps = {
  uris: string[];
  faults: (string | undefined)[];
  onChange: (uris: string[]) => void;
};

const Lines = ({ uris, faults, onChange }: LinesProps) =>
  uris.map((uri, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a line has no id but its position
    <div key={at} className="uri-line">
      <Field
        label={`Redirect URI ${at + 1}`}
        value={uri}
        onType={(typed) => onChange(uris.with(at, typed))}
        fault={faults[at]}
        spellCheck={false}
        autoComplete="off"
        inputMode="url"
      />
      <button type="button" className="button button-plain" onClick={() => onChange(uris.toSpliced(at, 1))}>
        Remove<span className="only-read-out"> redirect URI {at + 1}</span>
      </button>
    </div>
  ));

type RemoveProps = {
  realm: Realm;
  removed: readonly string[];
  onClose: () => void;
  onConfirm: () => Promise<unknown>;
};

/** An address that was changed counts as removed, too. */
function RemoveUris({ realm, removed, onClose, onConfirm }: RemoveProps) {
  const admin = useAdmin();
  // The screen follows the service: after the save, none of them is in the list any more.
  const [gone] = useState(removed);
  const isOne = gone.length === 1;
  return (
    <Confirm
      title={isOne ? "Remove this redirect URI?" : `Remove these ${gone.length} redirect URIs?`}
      says={`Every sign-on that returns to ${isOne ? "this address" : "one of these addresses"} is refused from now on.`}
      figures={gone.map((uri) => returnsTo(admin, realm.id, uri))}
      act={isOne ? "Remove redirect URI" : "Remove redirect URIs"}
      onClose={onClose}
      onConfirm={onConfirm}
    />
  );
}
