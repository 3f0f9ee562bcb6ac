import { DialogDismiss } from "@ariakit/react/dialog";
import type { Integration } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Form } from "../parts/forms/form.tsx";
import { Modal } from "../parts/forms/modal.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useAdmin } from "../session/session.ts";
import { changeOf, draftOf } from "./integration-change.ts";
import { IntegrationFields } from "./integration-fields.tsx";
import { waitingFor } from "./waiting.ts";

type Props = { integration: Integration; onClose: () => void };

/** Sends only what was changed. Another address receives the store's events, so it asks for a confirmation. */
export function EditIntegration({ integration, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  // The screen keeps fetching the integration. The change is what differs from the fields' first content.
  const [seen] = useState(integration);
  const [draft, setDraft] = useState(() => draftOf(seen));
  const [isConfirming, setConfirming] = useState(false);
  const change = changeOf(seen, draft);
  const isChanged = Object.keys(change).length > 0;
  const isComplete = draft.name.trim() !== "" && draft.url.trim() !== "" && draft.observes.length > 0;
  const save = async () => {
    const { data } = await admin.integrations.update(seen.id, change);
    queries.setQueryData(["integrations", seen.id], data);
    say(`${data.name} is saved.`);
    void queries.invalidateQueries({ queryKey: ["integrations"] });
  };
  const { isBusy, error, run } = useAct(save, onClose);
  return (
    <Modal title={`Edit ${seen.name}`} isFirm={isBusy} onClose={onClose}>
      <Form onSubmit={() => (change.configuration ? setConfirming(true) : run())}>
        <IntegrationFields draft={draft} onChange={setDraft} />
        {error !== undefined && <Problem error={error} />}
        <div className="form-actions">
          <button type="submit" className="button" disabled={isBusy || !isChanged || !isComplete}>
            Save the integration
          </button>
          <DialogDismiss className="button button-plain" disabled={isBusy}>
            Cancel
          </DialogDismiss>
        </div>
      </Form>
      {isConfirming && (
        <Confirm
          title={`Send the messages of ${seen.name} to another address?`}
          says="Latchkey posts the store’s events to the new address from now on, and no longer to the old one. The signing secret stays the same."
          figures={[waitingFor(admin, seen.id, "wait and are sent to the new address")]}
          act="Change address"
          onClose={() => setConfirming(false)}
          onDone={onClose}
          onConfirm={save}
        >
          <dl className="diff">
            <dt className="diff-before">before</dt>
            <dd className="diff-before">{seen.configuration.url}</dd>
            <dt className="diff-after">from now on</dt>
            <dd className="diff-after">{draft.url.trim()}</dd>
          </dl>
        </Confirm>
      )}
    </Modal>
  );
}
