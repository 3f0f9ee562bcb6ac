import type { Integration } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Link } from "wouter";
import { Asked } from "../parts/asked.tsx";
import { Empty } from "../parts/empty.tsx";
import { Instant } from "../parts/instant.tsx";
import { useListed } from "../parts/listed.ts";
import { More } from "../parts/more.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Pill, type Tone } from "../parts/pill.tsx";
import { Screen } from "../parts/screen.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { CreateIntegration } from "./create-integration.tsx";

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
      lead="Programs of yours that are told what happens: each event is posted to them, signed, at least once."
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
      <Asked
        query={query}
        empty={({ items }) =>
          items.length === 0 && (
            <Empty title="No integration yet">
              A newsletter that wants new customers, a till that must hear of ended sessions: give it an
              address, and choose what it hears of. What could not be delivered is tried again for a day.
            </Empty>
          )
        }
      >
        {({ items }) => (
          <>
            <ul className="list">
              {items.map((integration) => (
                <li key={integration.id}>
                  <Link className="item" href={`/integrations/${integration.id}`}>
                    <span className="item-words">
                      <span className="item-name">{integration.name}</span>
                      <br />
                      <span className="quiet small">
                        {integration.configuration.url} · {integration.observes.join(", ")}
                      </span>
                    </span>
                    <span className="item-side">
                      <Health of={integration} />
                      <span>
                        last{" "}
                        <Instant at={integration.meta.last_delivery?.at ?? null} never="nothing sent yet" />
                      </span>
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
            <More
              show={query.hasNextPage}
              isBusy={query.isFetchingNextPage}
              onMore={() => void query.fetchNextPage()}
            />
          </>
        )}
      </Asked>
      {isCreating && <CreateIntegration onClose={() => setCreating(false)} />}
    </Screen>
  );
}
