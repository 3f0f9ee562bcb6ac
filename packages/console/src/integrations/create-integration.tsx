import { DialogDismiss } from "@ariakit/react/dialog";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { KINDS } from "../events/event-words.ts";
import { Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Modal, useOpener } from "../parts/forms/modal.tsx";
import { useSecretOnce } from "../parts/forms/secret-once.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";

export function CreateIntegration({ onClose }: { onClose: () => void }) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const opener = useOpener();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [kinds, setKinds] = useState<string[]>([]);
  const showSecret = useSecretOnce();
  const { isBusy, error, run } = useAct(async () => {
    const { data } = await admin.integrations.create({
      name: name.trim(),
      integration_type: "webhook",
      observes: kinds.flatMap((kind) => kind.split(",")),
      configuration: { url: url.trim() },
    });
    showSecret({
      title: `The secret of ${data.name}`,
      values: { "Signing secret": data.signing_secret },
      children: <p className="quiet small">With it the receiver knows that a message is ours.</p>,
      opener,
    });
    void queries.invalidateQueries({ queryKey: ["integrations"] });
  }, onClose);
  const toggle = (kind: string) =>
    setKinds(kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind]);
  return (
    <Modal title="Add an integration" isFirm={isBusy} onClose={onClose}>
      <Form onSubmit={() => kinds.length > 0 && run()}>
        <Field label="Name" value={name} onType={setName} required maxLength={255} autoComplete="off" />
        <Field
          label="Address"
          hint="https; messages are posted there."
          value={url}
          onType={setUrl}
          required
          inputMode="url"
          spellCheck={false}
          autoComplete="off"
        />
        <fieldset className="stack-tight">
          <legend>
            <strong>What it hears of</strong>
          </legend>
          {KINDS.filter(({ value }) => value !== "").map(({ value, label }) => (
            <label key={value} className="choice">
              <input type="checkbox" checked={kinds.includes(value)} onChange={() => toggle(value)} />
              <strong>{label}</strong>
              <span className="why">{value.replaceAll(",", ", ")}</span>
            </label>
          ))}
        </fieldset>
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy || kinds.length === 0}>
            Add the integration
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
    </Modal>
  );
}
