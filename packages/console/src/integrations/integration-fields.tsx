import { Field } from "../parts/forms/field.tsx";
import { ChooseEvents } from "./choose-events.tsx";

/** The fields that a person fills in for an integration. */
export type IntegrationDraft = { name: string; url: string; observes: string[] };

type Props = { draft: IntegrationDraft; onChange: (draft: IntegrationDraft) => void };

/** The fields of a new integration and of a changed one. */
export function IntegrationFields({ draft, onChange }: Props) {
  return (
    <>
      <Field
        label="Name"
        value={draft.name}
        onType={(name) => onChange({ ...draft, name })}
        required
        maxLength={255}
        autoComplete="off"
      />
      <Field
        label="Address"
        hint="https. Latchkey posts each message to this address."
        value={draft.url}
        onType={(url) => onChange({ ...draft, url })}
        required
        inputMode="url"
        spellCheck={false}
        autoComplete="off"
      />
      <ChooseEvents observes={draft.observes} onChange={(observes) => onChange({ ...draft, observes })} />
    </>
  );
}
