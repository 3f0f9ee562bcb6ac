import { DialogDismiss } from "@ariakit/react/dialog";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "../parts/forms/form.tsx";
import { Modal, useOpener } from "../parts/forms/modal.tsx";
import { useSecretOnce } from "../parts/forms/secret-once.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { type IntegrationDraft, IntegrationFields } from "./integration-fields.tsx";

export function CreateIntegration({ onClose }: { onClose: () => void }) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const opener = useOpener();
  const [draft, setDraft] = useState<IntegrationDraft>({ name: "", url: "", observes: [] });
  const { name, url, observes } = draft;
  const showSecret = useSecretOnce();
  const { isBusy, error, run } = useAct(async () => {
    const { data } = await admin.integrations.create({
      name: name.trim(),
      integration_type: "webhook",
      observes,
      configuration: { url: url.trim() },
    });
    showSecret({
      title: `The secret of ${data.name}`,
      values: { "Signing secret": data.signing_secret },
      children: <p className="quiet small">The receiver checks each message’s signature with it.</p>,
      opener,
    });
    void queries.invalidateQueries({ queryKey: ["integrations"] });
  }, onClose);
  return (
    <Modal title="Add an integration" isFirm={isBusy} onClose={onClose}>
      <Form onSubmit={() => observes.length > 0 && run()}>
        <IntegrationFields draft={draft} onChange={setDraft} />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy || observes.length === 0}>
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
