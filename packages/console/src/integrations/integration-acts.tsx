import type { Integration, IntegrationTest } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { Confirm } from "../parts/forms/confirm.tsx";
import { useOpener } from "../parts/forms/modal.tsx";
import { useSecretOnce } from "../parts/forms/secret-once.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Attempt } from "./attempt.tsx";
import { EditIntegration } from "./edit-integration.tsx";
import { waitingFor } from "./waiting.ts";

type Props = { integration: Integration; onClose: () => void };

const ACTS = { edit: EditIntegration, disable: Disable, rotate: Rotate, delete: Delete };

export function IntegrationActs({ integration }: { integration: Integration }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [open, setOpen] = useState<keyof typeof ACTS>();
  const [tested, setTested] = useState<IntegrationTest>();
  const { isBusy, error, run } = useAct(async (act: () => Promise<unknown>) => {
    await act();
    await queries.invalidateQueries({ queryKey: ["integrations"] });
  });
  const Opened = open && ACTS[open];
  const { id, enabled } = integration;
  return (
    <section className="stack" aria-label="What can be done">
      {error !== undefined && <Problem error={error} />}
      <div className="row">
        {can("redeliver") && (
          <button
            type="button"
            className="button"
            disabled={isBusy}
            onClick={() => run(async () => setTested((await admin.integrations.test(id)).data))}
          >
            Send a test message
          </button>
        )}
        {can("administer") && (
          <>
            <button type="button" className="button button-plain" onClick={() => setOpen("edit")}>
              Edit
            </button>
            <button
              type="button"
              className="button button-plain"
              disabled={isBusy}
              onClick={() =>
                enabled ? setOpen("disable") : run(() => admin.integrations.update(id, { enabled: true }))
              }
            >
              {enabled ? "Disable" : "Enable"}
            </button>
            <button type="button" className="button button-plain" onClick={() => setOpen("rotate")}>
              Rotate the signing secret
            </button>
            <button type="button" className="button button-bad-plain" onClick={() => setOpen("delete")}>
              Delete
            </button>
          </>
        )}
      </div>
      <div aria-live="polite">{tested && <Attempt attempt={tested.attempt} />}</div>
      {Opened && <Opened integration={integration} onClose={() => setOpen(undefined)} />}
    </section>
  );
}

function Disable({ integration: { id, name }, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  return (
    <Confirm
      title={`Disable ${name}?`}
      says="Latchkey sends it nothing until you enable it again. Events from that time are not sent later, unless you replay them."
      figures={[waitingFor(admin, id, "wait until it is enabled again")]}
      act="Disable integration"
      onClose={onClose}
      onConfirm={async () => {
        await admin.integrations.update(id, { enabled: false });
        say(`${name} is disabled.`);
        await queries.invalidateQueries({ queryKey: ["integrations"] });
      }}
    />
  );
}

function Rotate({ integration: { id, name }, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const opener = useOpener();
  const showSecret = useSecretOnce();
  return (
    <Confirm
      title={`Rotate the signing secret of ${name}?`}
      says="The integration gets a new secret, which is shown once. For 24 hours Latchkey signs each message with both secrets. After that, a receiver that knows only the old secret refuses every message."
      figures={[waitingFor(admin, id, "wait to be sent")]}
      act="Rotate secret"
      isMild
      onClose={onClose}
      onConfirm={async () => {
        const { data } = await admin.integrations.rotate(id);
        showSecret({
          title: `The new secret of ${name}`,
          values: { "Signing secret": data.signing_secret },
          children: <p className="quiet small">For 24 hours the old secret signs too.</p>,
          opener,
        });
        // Does not wait for the refetch: the dialog would stay open above the secret.
        void queries.invalidateQueries({ queryKey: ["integrations"] });
      }}
    />
  );
}

function Delete({ integration: { id, name }, onClose }: Props) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [, go] = useLocation();
  return (
    <Confirm
      title={`Delete ${name}?`}
      says="Latchkey sends it nothing more, and deletes its deliveries and the receiver’s answers. This cannot be undone."
      figures={[waitingFor(admin, id, "wait to be sent, and are deleted too")]}
      act="Delete integration"
      name={{ what: "integration’s name", is: name }}
      onClose={onClose}
      onConfirm={async () => {
        await admin.integrations.delete(id);
        say(`${name} is deleted.`);
        go("/integrations");
        await queries.invalidateQueries({ queryKey: ["integrations"] });
      }}
    />
  );
}
