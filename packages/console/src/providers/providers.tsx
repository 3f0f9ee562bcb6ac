import { Link } from "wouter";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { type Provider, pathOf, stateOf, useProviders } from "../parts/profiles.ts";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { useCan } from "../session/can.ts";

export function Providers() {
  const query = useProviders();
  const can = useCan();
  const add = can("administer") ? (
    <Link className="button" href="/providers/add">
      Add a provider
    </Link>
  ) : (
    <NotOffered act="administer" />
  );
  return (
    <Screen
      title="Providers"
      lead="Identity providers that people sign in through. Open one to see whether it meets the nine requirements."
      actions={add}
    >
      <Asked
        query={query}
        empty={(list) =>
          list.length === 0 && (
            <Empty title="No provider yet">
              An identity provider is where people already have an account: a company’s directory, or a public
              service. Adding one takes its address, a callback to register there, and a secret; each step
              says what to paste where.
            </Empty>
          )
        }
      >
        {(list) => <Items items={list}>{(provider) => <ProviderItem provider={provider} />}</Items>}
      </Asked>
    </Screen>
  );
}

function ProviderItem({ provider }: { provider: Provider }) {
  const { tone, word } = stateOf(provider);
  return (
    <Link className="item" href={pathOf(provider)}>
      <span className="item-words">
        <span className="item-name">{provider.name}</span>
        <br />
        <span className="quiet small">
          {provider.meta.issuer ?? provider.discovery_url} · {provider.realm.name}
        </span>
      </span>
      <span className="item-side">
        <Pill tone={tone}>{word}</Pill>
        <span>
          last changed <Instant at={provider.meta.health.since} />
        </span>
      </span>
    </Link>
  );
}
