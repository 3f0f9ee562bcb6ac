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
import { judgeColor, judgeShownUrl } from "./shown.ts";

/** What shoppers see of the shop on the service's own pages: where one of several providers is chosen, and where a sign-on fails. */
export function Branding({ realm }: { realm: Realm }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [name, setName] = useState(realm.name);
  const [home, setHome] = useState(realm.home_url ?? "");
  const [logo, setLogo] = useState(realm.logo_url ?? "");
  const [color, setColor] = useState(realm.accent_color ?? "");
  const faults = { home: judgeShownUrl(home), logo: judgeShownUrl(logo), color: judgeColor(color) };
  const change = {
    name: name.trim(),
    home_url: home || null,
    logo_url: logo || null,
    accent_color: color || null,
  };
  const isChanged = Object.entries(change).some(([member, value]) => value !== realm[member as keyof Realm]);
  const isGood = Object.values(faults).every((fault) => fault === undefined) && change.name !== "";
  const { isBusy, error, run } = useAct(async () => {
    await admin.realms.update(realm.id, change);
    say("What shoppers see is saved.");
    await queries.invalidateQueries({ queryKey: ["realms"] });
  });
  const disabled = !can("administer");
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) run();
      }}
    >
      <div>
        <h3>What shoppers see of you</h3>
        <p className="quiet">
          On our own pages: where they choose between providers, and where a sign-on cannot go on.
        </p>
      </div>
      <Field
        label="Name of the realm"
        hint="Shown as the shop’s name, unless it is “Customers”."
        value={name}
        onType={setName}
        required
        maxLength={255}
        disabled={disabled}
      />
      <Field
        label="Way back to the shop"
        hint="Empty: our pages lead nowhere."
        value={home}
        onType={setHome}
        fault={faults.home}
        placeholder="https://shop.example/"
        inputMode="url"
        spellCheck={false}
        autoComplete="off"
        disabled={disabled}
      />
      <Field
        label="Address of the logo"
        hint="A picture of yours, which shoppers’ browsers load from there."
        value={logo}
        onType={setLogo}
        fault={faults.logo}
        placeholder="https://shop.example/logo.svg"
        inputMode="url"
        spellCheck={false}
        autoComplete="off"
        disabled={disabled}
      />
      <Field
        label="Colour"
        hint="Of what can be clicked, as #rrggbb. Where it would be hard to read it is made darker or lighter."
        value={color}
        onType={setColor}
        fault={faults.color}
        placeholder="#0b5f52"
        spellCheck={false}
        autoComplete="off"
        disabled={disabled}
      />
      {error !== undefined && <Problem error={error} />}
      {disabled ? (
        <NotOffered act="administer" />
      ) : (
        <div className="form-actions">
          <button type="submit" className="button" disabled={!isChanged || !isGood || isBusy}>
            Save what shoppers see
          </button>
        </div>
      )}
    </form>
  );
}
