import type { Integration } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import { Asked } from "../parts/lists/asked.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Deliveries } from "./deliveries.tsx";
import { IntegrationActs } from "./integration-acts.tsx";
import { Health } from "./integrations.tsx";

export function IntegrationScreen() {
  const { id = "" } = useParams<{ id: string }>();
  const admin = useAdmin();
  const can = useCan();
  const query = useQuery({
    queryKey: ["integrations", id],
    queryFn: async () => (await admin.integrations.get(id)).data,
    refetchInterval: 5000,
  });
  return (
    <Screen
      title={query.data?.name ?? "Integration"}
      crumb={{ to: "/integrations", label: "Integrations" }}
      actions={!can("administer") && <NotOffered act="administer" />}
    >
      <Asked query={query}>
        {(integration) => (
          <div className="stack-wide">
            <Facts integration={integration} />
            <IntegrationActs integration={integration} />
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
    <section className="card stack" aria-label="Facts">
      <div className="row">
        <Health of={integration} />
        {meta.failing_since && (
          <span>
            first failed <Instant at={meta.failing_since} isExact />
          </span>
        )}
        {meta.disabled_reason === "gone" && <span>because the receiver answered 410 (gone)</span>}
        {meta.disabled_reason === "failing" && <span>because all deliveries failed for five days</span>}
        {meta.disabled_reason === "restored" && <span>because the store was restored from a backup</span>}
      </div>
      <dl className="facts">
        <dt>Address</dt>
        <dd>
          <code>{configuration.url}</code>
        </dd>
        <dt>Subscribed events</dt>
        <dd>
          <code>{observes.join(", ")}</code>
        </dd>
        {meta.previous_secret_until && (
          <>
            <dt>Previous secret</dt>
            <dd>
              also signs until <Instant at={meta.previous_secret_until} isExact isAhead />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
