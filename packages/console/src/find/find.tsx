import { type Admin, ApiError, type ApplicationKey, type Customer, type SignOn } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { CustomerItem } from "../customers/customer-item.tsx";
import { Asked } from "../parts/asked.tsx";
import { Empty } from "../parts/empty.tsx";
import { SignOnItem } from "../parts/outcome.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAdmin } from "../session/session.ts";
import { interpret, type Meant, quoted } from "./interpret.ts";

type Found = { signOns: SignOn[]; customers: Customer[]; keys: ApplicationKey[] };
const NOTHING: Found = { signOns: [], customers: [], keys: [] };

async function look(admin: Admin, meant: Meant): Promise<Found> {
  const limit = 20;
  switch (meant.kind) {
    case "reference": {
      const { data } = await admin.signOns.list({ filter: `eq(reference,${meant.reference})`, limit });
      return { ...NOTHING, signOns: data };
    }
    case "email": {
      const { data } = await admin.customers.list({ filter: `eq(email,${quoted(meant.email)})`, limit });
      return { ...NOTHING, customers: data, signOns: await signOnsOf(admin, data) };
    }
    case "id":
      return byId(admin, meant.id);
    case "words": {
      const words = quoted(meant.words);
      if (words === "") return NOTHING;
      const [byName, byRef] = await Promise.all([
        admin.customers.list({ filter: `like(name,*${words}*)`, limit }),
        admin.customers.list({ filter: `eq(external_ref,${words})`, limit }),
      ]);
      return { ...NOTHING, customers: [...byRef.data, ...byName.data] };
    }
  }
}

/** Nobody reads from an id what it is of, so everything that it may be is asked for. */
async function byId(admin: Admin, id: string): Promise<Found> {
  const [signOn, customer, key] = await Promise.all([
    orNone(admin.signOns.get(id)),
    orNone(admin.customers.get(id)),
    orNone(admin.applicationKeys.get(id)),
  ]);
  const customers = customer ? [customer.data] : [];
  const signOns = signOn ? [signOn.data] : await signOnsOf(admin, customers);
  return { signOns, customers, keys: key ? [key.data] : [] };
}

async function signOnsOf(admin: Admin, customers: readonly Customer[]): Promise<SignOn[]> {
  const lists = await Promise.all(
    customers.slice(0, 3).map(({ id }) => admin.signOns.list({ filter: `eq(customer_id,${id})`, limit: 10 })),
  );
  return lists.flatMap(({ data }) => data);
}

const orNone = <T,>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });

export function Find() {
  const [search, setSearch] = useSearchParams();
  const asked = search.get("q") ?? "";
  const [typed, setTyped] = useState(asked);
  const meant = interpret(asked);
  return (
    <Screen
      title="Find"
      lead="What happened to this caller? Type what they read out: a reference in any spelling, an e-mail address, a name, or an id."
    >
      <div className="stack">
        <search>
          <form
            className="search"
            onSubmit={(event) => {
              event.preventDefault();
              setSearch(typed.trim() === "" ? {} : { q: typed.trim() });
            }}
          >
            <input
              className="input"
              type="search"
              aria-label="Reference, e-mail, name or id"
              placeholder="7K3M-Q9TX, ada@shop.example, …"
              autoComplete="off"
              spellCheck={false}
              // biome-ignore lint/a11y/noAutofocus: the screen is this field
              autoFocus
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
            <button type="submit" className="button">
              Find
            </button>
          </form>
        </search>
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
      empty={({ signOns, customers, keys }) =>
        signOns.length + customers.length + keys.length === 0 && <NotFound meant={meant} />
      }
    >
      {({ signOns, customers, keys }) => (
        <div className="stack-wide">
          {customers.length > 0 && (
            <section aria-labelledby="found-customers">
              <h2 id="found-customers">Customers</h2>
              <ul className="list">
                {customers.map((customer) => (
                  <li key={customer.id}>
                    <CustomerItem customer={customer} />
                  </li>
                ))}
              </ul>
            </section>
          )}
          {signOns.length > 0 && <SignOns title="Sign-ons" list={signOns} />}
          {keys.length > 0 && (
            <section aria-labelledby="found-keys">
              <h2 id="found-keys">Application keys</h2>
              <ul className="list">
                {keys.map((key) => (
                  <li key={key.id}>
                    <Link className="item" href="/keys">
                      <span className="item-name">{key.name}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      )}
    </Asked>
  );
}

const LOOKED: Record<Meant["kind"], string> = {
  reference: "No sign-on has this reference. Records are kept for a limited time, so an old one may be gone.",
  email:
    "No customer has this e-mail address. Look at the latest failures: who cannot sign in may not be a customer yet.",
  id: "No sign-on, customer or application key has this id. The id of a request is in the service's log.",
  words: "No customer has such a name or external reference.",
};

function NotFound({ meant }: { meant: Meant }) {
  return (
    <Empty title="Nothing found" action={<Link href="/failures">See what fails most</Link>}>
      {LOOKED[meant.kind]}
    </Empty>
  );
}

function SignOns({ title, list }: { title: string; list: readonly SignOn[] }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul className="list">
        {list.map((signOn) => (
          <li key={signOn.id}>
            <SignOnItem signOn={signOn} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Latest() {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["sign-ons", "latest"],
    queryFn: async () => (await admin.signOns.list({ limit: 15 })).data,
    refetchInterval: 15_000,
  });
  return (
    <Asked
      query={query}
      empty={(list) =>
        list.length === 0 && (
          <Empty title="No sign-on yet">
            As soon as somebody signs in through a provider, the record is here: every check, with what was
            expected and what was found.
          </Empty>
        )
      }
    >
      {(list) => <SignOns title="Latest sign-ons" list={list} />}
    </Asked>
  );
}
