import { useSearchParams } from "wouter";
import { listCustomers, named } from "../find/customers-named.ts";
import { interpret, quoted } from "../find/interpret.ts";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { countOf, useListed } from "../parts/lists/listed.ts";
import { Search } from "../parts/lists/search.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAdmin } from "../session/session.ts";
import { CustomerItem } from "./customer-item.tsx";

/** Filters by e-mail if the text looks like one, else by name. */
function filterOf(asked: string): string | undefined {
  const text = quoted(asked);
  if (text === "") return undefined;
  return interpret(text)?.kind === "email" ? `eq(email,${text})` : named(text);
}

export function Customers() {
  const admin = useAdmin();
  const [search] = useSearchParams();
  const filter = filterOf(search.get("q") ?? "");
  const query = useListed(["customers", filter], (page) => listCustomers(admin, page), {
    limit: 25,
    ...(filter ? { filter } : { sort: "-created_at" }),
  });
  return (
    <Screen title="Customers" lead="Everybody who can shop at this store, however they signed in.">
      <div className="stack">
        <Search label="Name or e-mail address" placeholder="Name or whole e-mail address" />
        <Listing
          query={query}
          head={(found) => <p className="quiet">{countOf(found)} in all</p>}
          empty={
            filter ? (
              <Empty title="Nobody found">
                No customer has this name or address. A part of a name is enough; where there are very many
                customers, it must be the beginning.
              </Empty>
            ) : (
              <Empty title="No customer yet">
                People become customers when they first sign in through a provider, or when they register with
                e-mail and password.
              </Empty>
            )
          }
        >
          {(customer) => <CustomerItem customer={customer} />}
        </Listing>
      </div>
    </Screen>
  );
}
