import { useState } from "react";
import { useSearchParams } from "wouter";
import { interpret, quoted } from "../find/interpret.ts";
import { Asked } from "../parts/asked.tsx";
import { Empty } from "../parts/empty.tsx";
import { countOf, useListed } from "../parts/listed.ts";
import { More } from "../parts/more.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAdmin } from "../session/session.ts";
import { CustomerItem } from "./customer-item.tsx";

/** By e-mail where it looks like one, else by name. */
function filterOf(asked: string): string | undefined {
  const text = quoted(asked);
  if (text === "") return undefined;
  return interpret(text)?.kind === "email" ? `eq(email,${text})` : `like(name,*${text}*)`;
}

export function Customers() {
  const admin = useAdmin();
  const [search, setSearch] = useSearchParams();
  const asked = search.get("q") ?? "";
  const [typed, setTyped] = useState(asked);
  const filter = filterOf(asked);
  const query = useListed(["customers", filter], (page) => admin.customers.list(page), {
    limit: 25,
    ...(filter ? { filter } : { sort: "-created_at" }),
  });
  return (
    <Screen title="Customers" lead="Everybody who can shop at this store, however they signed in.">
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
              aria-label="Name or e-mail address"
              placeholder="Name or whole e-mail address"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
            <button type="submit" className="button">
              Find
            </button>
          </form>
        </search>
        <Asked
          query={query}
          empty={({ items }) =>
            items.length === 0 &&
            (filter ? (
              <Empty title="Nobody found">
                No customer has this name or address. A part of a name is enough.
              </Empty>
            ) : (
              <Empty title="No customer yet">
                People become customers when they first sign in through a provider, or when they register with
                e-mail and password.
              </Empty>
            ))
          }
        >
          {(found) => (
            <>
              <p className="quiet">{countOf(found)} in all</p>
              <ul className="list">
                {found.items.map((customer) => (
                  <li key={customer.id}>
                    <CustomerItem customer={customer} />
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
      </div>
    </Screen>
  );
}
