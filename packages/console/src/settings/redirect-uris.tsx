import type { Realm } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Field } from "../parts/field.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { say } from "../parts/notices.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/use-act.ts";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { judgeAll } from "./redirect-uri.ts";

type Line = { id: string; uri: string };
const MOST = 50;
const line = (uri: string): Line => ({ id: crypto.randomUUID(), uri });

export function RedirectUris({ realm }: { realm: Realm }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [lines, setLines] = useState<Line[]>(() => realm.redirect_uris.map(line));
  const uris = lines.map(({ uri }) => uri);
  const faults = judgeAll(uris);
  const isChanged = JSON.stringify(uris) !== JSON.stringify(realm.redirect_uris);
  const isGood = faults.every((fault) => fault === undefined);
  const { isBusy, error, run } = useAct(async () => {
    await admin.realms.update(realm.id, { redirect_uris: uris });
    say("The redirect URIs are saved.");
    await queries.invalidateQueries({ queryKey: ["realms"] });
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
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) run();
      }}
    >
      <div>
        <h3>Redirect URIs</h3>
        <p className="quiet">
          {realm.purpose === "members"
            ? "Where your people are sent back to: this console. Without its address nobody can sign in here as themselves."
            : "Where a storefront may have its shoppers sent back to. Compared letter by letter."}
        </p>
      </div>
      {lines.length === 0 && <p className="hint hint-warn">There is none, so no sign-on can end well.</p>}
      {lines.map(({ id, uri }, at) => (
        <div key={id} className="uri-line">
          <Field
            label={`Redirect URI ${at + 1}`}
            value={uri}
            onType={(typed) => setLines(lines.map((one) => (one.id === id ? { id, uri: typed } : one)))}
            fault={faults[at]}
            spellCheck={false}
            autoComplete="off"
            inputMode="url"
          />
          <button
            type="button"
            className="button button-plain"
            onClick={() => setLines(lines.filter((one) => one.id !== id))}
          >
            Remove<span className="only-read-out"> redirect URI {at + 1}</span>
          </button>
        </div>
      ))}
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button
          type="button"
          className="button button-plain"
          disabled={lines.length >= MOST}
          onClick={() => setLines([...lines, line("")])}
        >
          Add a redirect URI
        </button>
        <button type="submit" className="button" disabled={!isChanged || !isGood || isBusy}>
          Save the redirect URIs
        </button>
      </div>
    </form>
  );
}
