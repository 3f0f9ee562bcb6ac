import type { Store } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Field } from "../parts/field.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { say } from "../parts/notices.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAct } from "../parts/use-act.ts";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";

export function StoreForm({ store }: { store: Store }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [name, setName] = useState(store.name);
  const [limit, setLimit] = useState(String(store.rate_limit));
  const { max_rate_limit: most, total_reserved_rate_limit: reserved } = store.meta;
  const fault = judgeLimit(limit, reserved, most);
  const isChanged = name.trim() !== store.name || limit !== String(store.rate_limit);
  const { isBusy, error, run } = useAct(async () => {
    await admin.store.update({ name: name.trim(), rate_limit: Number(limit) });
    say("The store is saved.");
    await queries.invalidateQueries({ queryKey: ["store"] });
  });
  return (
    <section className="card" aria-labelledby="store">
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!fault) run();
        }}
      >
        <h2 id="store">The store</h2>
        <Field
          label="Name"
          value={name}
          onType={setName}
          required
          maxLength={255}
          disabled={!can("administer")}
        />
        <Field
          label="Limit, requests a second"
          hint={`Over all keys together. Reserved: ${reserved.toLocaleString("en")}. The operator allows up to ${most.toLocaleString("en")}.`}
          inputMode="numeric"
          value={limit}
          onType={setLimit}
          fault={fault}
          disabled={!can("administer")}
        />
        {error !== undefined && <Problem error={error} />}
        {can("administer") ? (
          <div className="form-actions">
            <button type="submit" className="button" disabled={!isChanged || fault !== undefined || isBusy}>
              Save the store
            </button>
          </div>
        ) : (
          <NotOffered act="administer" />
        )}
      </form>
    </section>
  );
}

function judgeLimit(typed: string, reserved: number, most: number): string | undefined {
  if (!/^\d{1,9}$/.test(typed) || Number(typed) < 1) return "A whole number, 1 or more.";
  if (Number(typed) < reserved) return `Keys have ${reserved} reserved. Lower those first.`;
  if (Number(typed) > most) return `The operator allows up to ${most.toLocaleString("en")}.`;
  return undefined;
}
