import type { Realm } from "@latchkey/sdk/admin";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { NotOffered } from "../parts/not-offered.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { Overtaken } from "./overtaken.tsx";
import { judgeAll } from "./redirect-uri.ts";
import { useSaveRealm } from "./use-save-realm.ts";

const MOST = 50;

export function RedirectUris({ realm }: { realm: Realm }) {
  const can = useCan();
  const saveRealm = useSaveRealm(realm);
  const draft = useDraft(realm.redirect_uris);
  const uris = draft.value;
  const faults = judgeAll(uris);
  const isGood = faults.every((fault) => fault === undefined);
  const { isBusy, error, run } = useAct(async () => {
    await saveRealm({ redirect_uris: uris }, "The redirect URIs are saved.");
    draft.settle();
  });
  if (!can("administer"))
    return (
      <div className="stack">
        <h3>Redirect URIs</h3>
        <ul>
          {realm.redirect_uris.map((uri) => (
            <li key={uri}>
              <code>{uri}</code>
            </li>
          ))}
        </ul>
        <NotOffered act="administer" />
      </div>
    );
  return (
    <Form onSubmit={() => isGood && run()}>
      <div>
        <h3>Redirect URIs</h3>
        <p className="quiet">
          {realm.purpose === "members"
            ? "Where your people are sent back to: this console. Without its address nobody can sign in here as themselves."
            : "Where a storefront may have its shoppers sent back to. Compared letter by letter."}
        </p>
      </div>
      {uris.length === 0 && <p className="hint hint-warn">There is none, so no sign-on can end well.</p>}
      {uris.map((uri, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line has no id but its position
        <div key={at} className="uri-line">
          <Field
            label={`Redirect URI ${at + 1}`}
            value={uri}
            onType={(typed) => draft.type(uris.with(at, typed))}
            fault={faults[at]}
            spellCheck={false}
            autoComplete="off"
            inputMode="url"
          />
          <button
            type="button"
            className="button button-plain"
            onClick={() => draft.type(uris.toSpliced(at, 1))}
          >
            Remove<span className="only-read-out"> redirect URI {at + 1}</span>
          </button>
        </div>
      ))}
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
    </Form>
  );
}
