import { Link } from "wouter";
import { continueAt, isHalfMade } from "../add-provider/steps.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { oneFile } from "../parts/lists/one-file.ts";
import { NotOffered } from "../parts/not-offered.tsx";
import { type Provider, stateOf, useProviders } from "../parts/profiles.ts";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { ProviderMark } from "./provider-mark.tsx";

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
              service. To add one you need its address. Each step then shows what to enter where.
            </Empty>
          )
        }
      >
        {(list) => (
          <div className="stack">
            <Export providers={list} />
            <Items items={list}>{(provider) => <ProviderItem provider={provider} />}</Items>
          </div>
        )}
      </Asked>
    </Screen>
  );
}

/** The service has a list for each realm. */
function Export({ providers }: { providers: readonly Provider[] }) {
  const admin = useAdmin();
  const realms = [...new Set(providers.map(({ realm }) => realm.id))];
  const read = oneFile(realms.map((realm) => (options) => admin.profiles(realm).csv(options)));
  return (
    <ListHead found={{ total: providers.length, totalIsAtLeast: false }}>
      <ExportCsv name="providers" read={read} />
    </ListHead>
  );
}

/** An administrator continues a half-made provider; other roles read what there is of it. */
function ProviderItem({ provider }: { provider: Provider }) {
  const can = useCan();
  const { tone, word } = stateOf(provider);
  const isToContinue = isHalfMade(provider) && can("administer");
  return (
    <Link
      className="item"
      href={isToContinue ? continueAt(provider) : `/realms/${provider.realm.id}/providers/${provider.id}`}
    >
      <span className="item-words marked">
        <ProviderMark of={provider} />
        <span>
          <span className="item-name">{provider.name}</span>
          <br />
          <span className="quiet small">
            {provider.meta.issuer ?? provider.discovery_url} · {provider.realm.name}
          </span>
        </span>
      </span>
      <span className="item-side">
        {isToContinue ? (
          <span className="continue">Continue setup</span>
        ) : (
          <>
            <Pill tone={tone}>{word}</Pill>
            <span>
              last changed <Instant at={provider.meta.health.since} />
            </span>
          </>
        )}
      </span>
    </Link>
  );
}
