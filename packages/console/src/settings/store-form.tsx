import type { Store } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Overtaken } from "./overtaken.tsx";
import { busiestSecond } from "./settings-figures.ts";

export function StoreForm({ store }: { store: Store }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const name = useDraft(store.name);
  const limit = useDraft(String(store.rate_limit));
  const { max_rate_limit: most, total_reserved_rate_limit: reserved } = store.meta;
  const fault = judgeLimit(limit.value, reserved, most);
  const [isConfirming, setConfirming] = useState(false);
  const isLower = limit.isChanged && Number(limit.value) < store.rate_limit;
  const saveIt = async () => {
    const { data } = await admin.store.update({
      ...(name.isChanged && { name: name.value.trim() }),
      ...(limit.isChanged && { rate_limit: Number(limit.value) }),
    });
    // Shown from the answer: a refetch that an event starts may cancel the fetch below.
    queries.setQueryData(["store"], data);
    say("The store is saved.");
    await queries.invalidateQueries({ queryKey: ["store"] });
    name.settle();
    limit.settle();
  };
  const { isBusy, error, run } = useAct(saveIt);
  return (
    <section className="card" aria-labelledby="store">
      <Form onSubmit={() => !fault && (isLower ? setConfirming(true) : run())}>
        <h2 id="store">The store</h2>
        <Field
          label="Name"
          value={name.value}
          onType={name.type}
          required
          maxLength={255}
          disabled={!can("administer")}
        />
        <Field
          label="Limit (requests a second)"
          hint={`For all keys together. Reserved: ${reserved.toLocaleString("en")}. The operator allows up to ${most.toLocaleString("en")}.`}
          inputMode="numeric"
          value={limit.value}
          onType={limit.type}
          fault={fault}
          disabled={!can("administer")}
        />
        <Overtaken of={[name, limit]} inWords={(saved) => saved} isBusy={isBusy} />
        {error !== undefined && <Problem error={error} />}
        {can("administer") && (
          <div className="form-actions">
            <button
              type="submit"
              className="button"
              disabled={!(name.isChanged || limit.isChanged) || fault !== undefined || isBusy}
            >
              Save the store
            </button>
          </div>
        )}
      </Form>
      {isConfirming && (
        <Confirm
          title={`Lower the limit to ${Number(limit.value).toLocaleString("en")} requests a second?`}
          says="Within a second, requests above the new limit are refused, counted over all keys. Reserved rates stay."
          figures={[busiestSecond(admin)]}
          act="Lower limit"
          onClose={() => setConfirming(false)}
          onConfirm={saveIt}
        />
      )}
    </section>
  );
}

function judgeLimit(typed: string, reserved: number, most: number): string | undefined {
  if (!/^\d{1,9}$/.test(typed) || Number(typed) < 1) return "Enter a whole number, 1 or more.";
  if (Number(typed) < reserved) return `${reserved} are reserved for keys. Lower the reservations first.`;
  if (Number(typed) > most) return `The operator allows up to ${most.toLocaleString("en")}.`;
  return undefined;
}
