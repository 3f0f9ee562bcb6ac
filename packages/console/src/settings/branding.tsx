import type { Realm } from "@latchkey/sdk/admin";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { useDraft } from "../parts/forms/use-draft.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { Overtaken } from "./overtaken.tsx";
import { judgeColor, judgeShownUrl } from "./shown.ts";
import { useSaveRealm } from "./use-save-realm.ts";

/**
 * The shop's name, link, logo and colour on the service's own pages: the choice of providers, and error
 * pages.
 */
export function Branding({ realm }: { realm: Realm }) {
  const can = useCan();
  const saveRealm = useSaveRealm(realm);
  const name = useDraft(realm.name);
  const home = useDraft(realm.home_url ?? "");
  const logo = useDraft(realm.logo_url ?? "");
  const color = useDraft(realm.accent_color ?? "");
  const drafts = [name, home, logo, color];
  const faults = {
    home: judgeShownUrl(home.value),
    logo: judgeShownUrl(logo.value),
    color: judgeColor(color.value),
  };
  const isChanged = drafts.some((draft) => draft.isChanged);
  const isGood = Object.values(faults).every((fault) => fault === undefined) && name.value.trim() !== "";
  const { isBusy, error, run } = useAct(async () => {
    await saveRealm(changeOf({ name, home, logo, color }), "What shoppers see is saved.");
    for (const { settle } of drafts) settle();
  });
  const disabled = !can("administer");
  return (
    <Form onSubmit={() => isGood && run()}>
      <div>
        <h3>Your shop on Latchkey’s pages</h3>
        <p className="quiet">
          Shoppers see these pages when they choose a provider, sign out, or cannot continue.
        </p>
      </div>
      <Field
        label="Name of the realm"
        hint="Shown as the name of the shop, unless it is “Customers”."
        value={name.value}
        onType={name.type}
        required
        maxLength={255}
        disabled={disabled}
      />
      <AddressField
        label="Link back to the shop"
        hint="Leave empty to hide the link."
        draft={home}
        fault={faults.home}
        placeholder="https://shop.example/"
        disabled={disabled}
      />
      <AddressField
        label="Logo URL"
        hint="Shoppers’ browsers load the picture from this address."
        draft={logo}
        fault={faults.logo}
        placeholder="https://shop.example/logo.svg"
        disabled={disabled}
      />
      <Field
        label="Colour"
        hint="The colour of buttons and links, as #rrggbb. It is made darker or lighter where it would be hard to read."
        value={color.value}
        onType={color.type}
        fault={faults.color}
        placeholder="#2f5548"
        spellCheck={false}
        autoComplete="off"
        disabled={disabled}
      />
      <Overtaken of={drafts} inWords={(saved) => saved} isBusy={isBusy} />
      {error !== undefined && <Problem error={error} />}
      {!disabled && (
        <div className="form-actions">
          <button type="submit" className="button" disabled={!isChanged || !isGood || isBusy}>
            Save what shoppers see
          </button>
        </div>
      )}
    </Form>
  );
}

type Draft = ReturnType<typeof useDraft<string>>;

const changeOf = ({ name, home, logo, color }: Record<"name" | "home" | "logo" | "color", Draft>) => ({
  ...(name.isChanged && { name: name.value.trim() }),
  ...(home.isChanged && { home_url: home.value || null }),
  ...(logo.isChanged && { logo_url: logo.value || null }),
  ...(color.isChanged && { accent_color: color.value || null }),
});

type AddressProps = {
  label: string;
  hint: string;
  draft: Pick<Draft, "value" | "type">;
  fault: string | undefined;
  placeholder: string;
  disabled: boolean;
};

const AddressField = ({ draft: { value, type }, ...field }: AddressProps) => (
  <Field {...field} value={value} onType={type} inputMode="url" spellCheck={false} autoComplete="off" />
);
