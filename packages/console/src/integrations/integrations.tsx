import type { Integration } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Link } from "wouter";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { Pill, type Tone } from "../parts/text/pill.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { CreateIntegration } from "./create-integration.tsx";
import { observesInWords } from "./event-types.ts";

const STATUS: Record<Integration["meta"]["status"], { tone: Tone; word: string }> = {
  healthy: { tone: "good", word: "Healthy" },
  failing: { tone: "bad", word: "Failing" },
  disabled: { tone: "plain", word: "Disabled" },
};

export function Health({ of }: { of: Integration }) {
  const { tone, word } = STATUS[of.meta.status];
  return <Pill tone={tone}>{word}</Pill>;
}

export function Integrations() {
  const admin = useAdmin();
  const can = useCan();
  const query = useListed(["integrations"], (page) => admin.integrations.list(page), { limit: 25 });
  const [isCreating, setCreating] = useState(false);
  return (
    <Screen
      title="Integrations"
      lead="Latchkey posts events to your programs, signed and at least once. The events of one resource arrive in order."
      actions={
        can("administer") ? (
          <button type="button" className="button" onClick={() => setCreating(true)}>
            Add an integration
          </button>
        ) : (
          <NotOffered act="administer" />
        )
      }
    >
      <Listing
        query={query}
        head={(found) => (
          <ListHead found={found}>
            <ExportCsv name="integrations" read={(options) => admin.integrations.csv(options)} />
          </ListHead>
        )}
        empty={
          <Empty title="No integration yet">
            An integration sends events to a program, for example new customers to a newsletter. Enter its
            address and choose its events. Latchkey repeats failed deliveries for three days.
          </Empty>
        }
      >
        {(integration) => <IntegrationItem integration={integration} />}
      </Listing>
      {isCreating && <CreateIntegration onClose={() => setCreating(false)} />}
    </Screen>
  );
}

function IntegrationItem({ integration }: { integration: Integration }) {
  const { id, name, configuration, observes, meta } = integration;
  return (
    <Link className="item" href={`/integrations/${id}`}>
      <span className="item-words">
        <span className="item-name">{name}</span>
        <br />
        <span className="quiet small">
          {configuration.url} · {observesInWords(observes)}
        </span>
      </span>
      <span className="item-side">
        <Health of={integration} />
        <span>
          {meta.last_delivery ? "last attempt " : ""}
          <Instant at={meta.last_delivery?.at ?? null} never="nothing sent yet" />
        </span>
      </span>
    </Link>
  );
}
