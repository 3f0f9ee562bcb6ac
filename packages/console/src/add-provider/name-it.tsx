import type { NewProfileReport, Realm } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Choices, Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { UNREGISTERED } from "../parts/profiles.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { type Finding, nameFor } from "./findings.ts";

export type Made = { realm: string; profile: string; recipe: string };

type Props = {
  address: string;
  report: NewProfileReport;
  finding: Finding;
  realms: readonly Realm[];
  product: string;
  onMade: (made: Made) => void;
};

/** Why a person may continue although the provider is not ready: its administrator can be sent a link. */
const ADVICE: Record<Finding, string | undefined> = {
  fits: undefined,
  missing:
    "You can continue now: the next step makes a link that shows the provider’s administrator what to change. The provider can be enabled when nothing is missing.",
  elsewhere: undefined,
  unread:
    "Check the address first. If the address is right and another person runs the provider, continue: the next step makes a link that shows them what to do.",
};

/** Saves the provider, switched off, so that it has a redirect URI to register. */
export function NameIt({ address, report, finding, realms, product, onMade }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [realm, setRealm] = useState(realms[0]?.id ?? "");
  const [name, setName] = useState(nameFor(report, address));
  const [isTried, setTried] = useState(false);
  const { isBusy, error, run } = useAct(async () => {
    const { data } = await admin.profiles(realm).create({
      name: name.trim(),
      discovery_url: address,
      enabled: false,
      // Replaced in step 3, when the provider's administrator has given the real one, and its secret.
      client_id: UNREGISTERED,
    });
    void queries.invalidateQueries({ queryKey: ["providers"] });
    onMade({ realm, profile: data.id, recipe: product });
  });
  const advice = ADVICE[finding];
  return (
    <Form
      noValidate
      onSubmit={() => {
        setTried(true);
        if (name.trim()) run();
      }}
    >
      <Field
        label="Name, as people see it on the button"
        value={name}
        onType={setName}
        required
        maxLength={255}
        fault={isTried && !name.trim() ? "Give it a name." : undefined}
      />
      {realms.length > 1 && <RealmChoice realms={realms} value={realm} onChoose={setRealm} />}
      {advice && <p className="hint">{advice}</p>}
      {error !== undefined && <Problem error={error} />}
      <div className="form-actions">
        <button
          type="submit"
          className={finding === "fits" ? "button" : "button button-plain"}
          disabled={isBusy}
        >
          {isBusy ? "Saving…" : finding === "fits" ? "Continue" : "Continue anyway"}
        </button>
      </div>
    </Form>
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
