import type { SignOn } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import { Link, useSearchParams } from "wouter";
import { CustomerItem } from "../customers/customer-item.tsx";
import { EventItem } from "../events/event-item.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { Search } from "../parts/lists/search.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { SignOnItem } from "../parts/text/outcome.tsx";
import { useAdmin } from "../session/session.ts";
import { interpret, type Meant } from "./interpret.ts";
import { look } from "./look.ts";

export function Find() {
  const [search] = useSearchParams();
  const asked = search.get("q") ?? "";
  const meant = interpret(asked);
  return (
    <Screen
      title="Look up"
      lead="What happened to this caller? Enter what they read out: a reference in any spelling, an e-mail address, a name, or any id."
    >
      <div className="stack-wide">
        <Search
          key={asked}
          label="Reference, e-mail, name or id"
          placeholder="7K3M-Q9TX, ada@shop.example, …"
          isFirst
        />
        {meant ? <Results asked={asked} meant={meant} /> : <Latest />}
      </div>
    </Screen>
  );
}

function Results({ asked, meant }: { asked: string; meant: Meant }) {
  const admin = useAdmin();
  const query = useQuery({ queryKey: ["find", asked], queryFn: () => look(admin, meant) });
  return (
    <Asked
      query={query}
      empty={(found) => Object.values(found).every((list) => list.length === 0) && <NotFound meant={meant} />}
    >
      {({ signOns, customers, keys, events }) => (
        <div className="stack-wide">
          <Part title="Customers" items={customers}>
            {(customer) => <CustomerItem customer={customer} />}
          </Part>
          <Part title="Sign-ons" items={signOns}>
            {(signOn) => <SignOnItem signOn={signOn} />}
          </Part>
          <Part title="Application keys" items={keys}>
            {(key) => (
              <Link className="item" href={`/keys/${key.id}`}>
                <span className="item-words item-name">{key.name}</span>
                <span className="item-side">
                  <span>{key.role}</span>
                  <span>
                    last used <Instant at={key.meta.timestamps.last_used_at} />
                  </span>
                </span>
              </Link>
            )}
          </Part>
          <Part title="What happened" items={events}>
            {(event) => <EventItem event={event} />}
          </Part>
        </div>
      )}
    </Asked>
  );
}

type PartProps<T> = { title: string; items: readonly T[]; children: (item: T) => ReactNode };

function Part<T>({ title, items, children }: PartProps<T>) {
  const id = useId();
  if (items.length === 0) return null;
  return (
    <section className="stack-tight" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <Items items={items}>{children}</Items>
    </section>
  );
}

const LOOKED: Record<Meant["kind"], string> = {
  email:
    "No customer has this address, and no recent sign-on used it. See the latest failures: a sign-on may have failed before the provider sent an address.",
  id: "No sign-on, customer, key or event has this id. A request that failed and changed nothing is only in the service’s log.",
  client_id: "No application key has this client id. It may have been deleted.",
  words:
    "No customer has this name or external reference, and no sign-on has this reference. Records of sign-ons are deleted after some time.",
};

function NotFound({ meant }: { meant: Meant }) {
  return (
    <Empty title="Nothing found" action={<Link href="/failures">See the most frequent failures</Link>}>
      {LOOKED[meant.kind]}
    </Empty>
  );
}

function Latest() {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["sign-ons", "latest"],
    queryFn: async (): Promise<SignOn[]> => (await admin.signOns.list({ limit: 15 })).data,
    refetchInterval: 15_000,
  });
  return (
    <Asked
      query={query}
      empty={(list) =>
        list.length === 0 && (
          <Empty title="No sign-on yet">
            When a person signs in through a provider, the record appears here: every check, with the expected
            and the found value.
          </Empty>
        )
      }
    >
      {(list) => (
        <Part title="Latest sign-ons" items={list}>
          {(signOn) => <SignOnItem signOn={signOn} />}
        </Part>
      )}
    </Asked>
  );
}
