import { DialogDismiss } from "@ariakit/react/dialog";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Choices, Field } from "../parts/forms/field.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Modal, useOpener } from "../parts/forms/modal.tsx";
import { useSecretOnce } from "../parts/forms/secret-once.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { PURPOSES, type Purpose, roleFor } from "./purposes.ts";

export function CreateKey({ onClose }: { onClose: () => void }) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const opener = useOpener();
  const [name, setName] = useState("");
  const [reserved, setReserved] = useState("0");
  const [purpose, setPurpose] = useState<Purpose>();
  const showSecret = useSecretOnce();
  const isCount = /^\d{1,9}$/.test(reserved);
  const { isBusy, error, run } = useAct(async () => {
    const { data } = await admin.applicationKeys.create({
      name: name.trim(),
      reserved_rate_limit: Number(reserved),
      role: roleFor(purpose),
    });
    showSecret({
      title: `The key of ${data.name}`,
      values: { "Client ID": data.client_id, "Client secret": data.client_secret },
      opener,
    });
    void queries.invalidateQueries({ queryKey: ["keys"] });
  }, onClose);
  return (
    <Modal title="Create a key" isFirm={isBusy} onClose={onClose}>
      <Form onSubmit={() => isCount && run()}>
        <Field
          label="Name of the program"
          value={name}
          onType={setName}
          required
          maxLength={255}
          autoComplete="off"
        />
        <Field
          label="Reserved requests a second"
          hint="Requests up to this rate are never refused, whatever other keys do. With 0 the key uses the shared rate."
          inputMode="numeric"
          value={reserved}
          onType={setReserved}
          fault={isCount ? undefined : "Enter a whole number, 0 or more."}
        />
        <div className="stack-tight">
          <strong>What is it for?</strong>
          <Choices
            legend="What is it for?"
            options={PURPOSES}
            value={purpose}
            onChoose={(chosen) => setPurpose(chosen)}
          />
          {purpose === undefined && (
            <p className="quiet small">
              Without a choice the key gets the role viewer. You can change the role later.
            </p>
          )}
        </div>
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy}>
            Create the key
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
    </Modal>
  );
}
