import type { Integration, IntegrationTest } from "@latchkey/sdk/admin";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useLocation, useParams } from "wouter";
import { ConfirmByName } from "../parts/forms/confirm-by-name.tsx";
import { useSecretOnce } from "../parts/forms/secret-once.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Attempt, Deliveries } from "./deliveries.tsx";
import { Health } from "./integrations.tsx";

export function IntegrationScreen() {
  const { id = "" } = useParams<{ id: string }>();
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["integrations", id],
    queryFn: async () => (await admin.integrations.get(id)).data,
    refetchInterval: 5000,
  });
  return (
    <Screen title={query.data?.name ?? "Integration"} crumb={{ to: "/integrations", label: "Integrations" }}>
      <Asked query={query}>
        {(integration) => (
          <div className="stack-wide">
            <Facts integration={integration} />
            <Acts integration={integration} />
            <Deliveries of={integration} />
          </div>
        )}
      </Asked>
    </Screen>
  );
}

function Facts({ integration }: { integration: Integration }) {
  const { configuration, observes, meta } = integration;
  return (
    <section className="card stack" aria-label="What it is">
      <div className="row">
        <Health of={integration} />
        {meta.failing_since && (
          <span>
            nothing but failures, the first <Instant at={meta.failing_since} isExact />
          </span>
        )}
        {meta.disabled_reason === "gone" && <span>the receiver said that it is gone (410)</span>}
        {meta.disabled_reason === "failing" && <span>nothing but failures for five days</span>}
        {meta.disabled_reason === "restored" && <span>it came back with a backup</span>}
      </div>
      <dl className="facts">
        <dt>Address</dt>
        <dd>
          <code>{configuration.url}</code>
        </dd>
        <dt>Hears of</dt>
        <dd>
          <code>{observes.join(", ")}</code>
        </dd>
        {meta.previous_secret_until && (
          <>
            <dt>Older secret</dt>
            <dd>
              signs too, and ends <Instant at={meta.previous_secret_until} isExact />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Acts({ integration }: { integration: Integration }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [isDeleting, setDeleting] = useState(false);
  const [tested, setTested] = useState<IntegrationTest>();
  const showSecret = useSecretOnce();
  const rotate = useRef<HTMLButtonElement>(null);
  const stale = () => queries.invalidateQueries({ queryKey: ["integrations"] });
  const { run, ...acting } = useAct(async (act: () => Promise<unknown>) => {
    await act();
    await stale();
  });
  // Does not wait for the refetch: the button would stay disabled, and could not take the focus back.
  const rotating = useAct(async () => {
    const { data } = await admin.integrations.rotate(integration.id);
    showSecret({
      title: `The new secret of ${integration.name}`,
      values: { "Signing secret": data.signing_secret },
      children: (
        <p className="quiet small">For a day the secret before signs beside it, so there is no hurry.</p>
      ),
      opener: rotate.current,
    });
    void stale();
  });
  const isBusy = acting.isBusy || rotating.isBusy;
  const error = acting.error ?? rotating.error;
  return (
    <section className="stack" aria-label="What can be done">
      {error !== undefined && <Problem error={error} />}
      <div className="row">
        {can("redeliver") && (
          <button
            type="button"
            className="button"
            disabled={isBusy}
            onClick={() => run(async () => setTested((await admin.integrations.test(integration.id)).data))}
          >
            Send a test message
          </button>
        )}
        {can("administer") && (
          <>
            <button
              type="button"
              className="button button-plain"
              disabled={isBusy}
              onClick={() =>
                run(() => admin.integrations.update(integration.id, { enabled: !integration.enabled }))
              }
            >
              {integration.enabled ? "Disable" : "Enable"}
            </button>
            <button
              type="button"
              ref={rotate}
              className="button button-plain"
              disabled={isBusy}
              onClick={() => rotating.run()}
            >
              Rotate the signing secret
            </button>
            <button type="button" className="button button-bad-plain" onClick={() => setDeleting(true)}>
              Delete
            </button>
          </>
        )}
      </div>
      {!can("administer") && <NotOffered act="administer" />}
      <div aria-live="polite">{tested && <Attempt attempt={tested.attempt} />}</div>
      {isDeleting && <DeleteIntegration integration={integration} onClose={() => setDeleting(false)} />}
    </section>
  );
}

type DeleteProps = { integration: Integration; onClose: () => void };

function DeleteIntegration({ integration: { id, name }, onClose }: DeleteProps) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [, go] = useLocation();
  return (
    <ConfirmByName
      title={`Delete ${name}?`}
      name={name}
      what="integration’s name"
      act="Delete the integration"
      onClose={onClose}
      onConfirm={async () => {
        await admin.integrations.delete(id);
        say(`${name} is deleted.`);
        go("/integrations");
        await queries.invalidateQueries({ queryKey: ["integrations"] });
      }}
    >
      <p>Its deliveries go with it, also those that still wait to be sent.</p>
    </ConfirmByName>
  );
}
