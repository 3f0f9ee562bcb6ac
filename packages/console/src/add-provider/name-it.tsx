import type { Realm } from "@latchkey/sdk/admin";
import { useId, useState } from "react";
import { Choices, Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { UNREGISTERED } from "../parts/profiles.ts";
import { useRealms } from "../parts/realms.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { judgeAddress, RECIPES } from "./recipes.ts";

type Made = { realm: string; profile: string; recipe: string };

/**
 * The address comes first: the provider is read, and gets its own callback, before anything is registered
 * there.
 */
export function NameIt({ onMade }: { onMade: (made: Made) => void }) {
  const admin = useAdmin();
  const realms = useRealms();
  const [recipe, setRecipe] = useState("entra");
  const chosen = RECIPES.find(({ id }) => id === recipe);
  const [realm, setRealm] = useState<string>();
  const [name, setName] = useState(chosen?.name ?? "");
  const [address, setAddress] = useState(chosen?.address ?? "");
  const [isTried, setTried] = useState(false);
  const fault = judgeAddress(address);
  const realmId = realm ?? realms.data?.[0]?.id;
  const { isBusy, error, run } = useAct(async () => {
    if (!realmId) return;
    const { data } = await admin.profiles(realmId).create({
      name: name.trim(),
      discovery_url: address.trim(),
      enabled: false,
      // Replaced in step 3, when the provider's administrator has given the real one, and its secret.
      client_id: UNREGISTERED,
    });
    onMade({ realm: realmId, profile: data.id, recipe });
  });
  const choose = (id: string) => {
    const next = RECIPES.find((one) => one.id === id);
    setRecipe(id);
    setName(next?.id === "other" ? "" : (next?.name ?? ""));
    setAddress(next?.address ?? "");
    setTried(false);
  };
  return (
    <Form
      noValidate
      onSubmit={() => {
        setTried(true);
        if (!fault && name.trim()) run();
      }}
    >
      <h2>Which provider is it?</h2>
      <RecipeSelect value={recipe} onChoose={choose} />
      <Field
        label="Name, as people see it on the button"
        value={name}
        onType={setName}
        required
        maxLength={255}
        fault={isTried && !name.trim() ? "Give it a name." : undefined}
      />
      <Field
        label="Address"
        hint="The issuer, or its discovery document: we find the rest."
        value={address}
        onType={setAddress}
        spellCheck={false}
        autoComplete="off"
        fault={isTried ? fault : undefined}
      />
      {realms.data && realms.data.length > 1 && (
        <RealmChoice realms={realms.data} value={realmId ?? ""} onChoose={setRealm} />
      )}
      {realms.error && <Problem error={realms.error} again={() => void realms.refetch()} />}
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button type="submit" className="button" disabled={isBusy || !realmId}>
          {isBusy ? "Reading the provider…" : "Go on"}
        </button>
      </div>
    </Form>
  );
}

function RecipeSelect({ value, onChoose }: { value: string; onChoose: (id: string) => void }) {
  const select = useId();
  return (
    <div className="field">
      <label htmlFor={select}>Provider</label>
      <select id={select} className="input" value={value} onChange={(event) => onChoose(event.target.value)}>
        {RECIPES.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

type RealmChoiceProps = { realms: readonly Realm[]; value: string; onChoose: (id: string) => void };

const RealmChoice = ({ realms, value, onChoose }: RealmChoiceProps) => (
  <div className="stack-tight">
    <strong aria-hidden="true">For whom</strong>
    <Choices
      legend="For whom"
      value={value}
      onChoose={onChoose}
      options={realms.map(({ id, name, purpose }) => ({
        value: id,
        label: name,
        why:
          purpose === "members"
            ? "People of the store, who sign in to this console."
            : "Shoppers, who sign in at a storefront.",
      }))}
    />
  </div>
);
