import type { Customer } from "@latchkey/sdk/admin";
import { Link } from "wouter";
import { listCustomers, named } from "../find/customers-named.ts";
import { interpret, quoted } from "../find/interpret.ts";
import { readOrder, useAddress } from "../parts/lists/address.ts";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { FilterSpan, Filters } from "../parts/lists/filters.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { Search } from "../parts/lists/search.tsx";
import { readSpan, type Span, spanConditions } from "../parts/lists/span.ts";
import { type Column, TableListing } from "../parts/lists/table.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { useAdmin } from "../session/session.ts";

/** Filters by e-mail if the text looks like one, else by name; and by the time of creation. */
function filterOf(asked: string, created: Span): string | undefined {
  const text = quoted(asked);
  const words = text && (interpret(text)?.kind === "email" ? `eq(email,${text})` : named(text));
  return [...(words ? [words] : []), ...spanConditions("created_at", created)].join(":") || undefined;
}

const SORTED = ["name", "email", "created_at", "updated_at"];

export function Customers() {
  const admin = useAdmin();
  const [search, change] = useAddress();
  const created = readSpan(search);
  const filter = filterOf(search.get("q") ?? "", created);
  // With a filter the service chooses the order that costs least.
  const order = readOrder(search, SORTED, filter ? undefined : "-created_at");
  const asked = { ...(filter && { filter }), ...(order && { sort: order }) };
  const query = useListed(["customers", filter, order], (page) => listCustomers(admin, page), {
    limit: 25,
    ...asked,
  });
  return (
    <Screen title="Customers" lead="Everyone who can shop at this store, however they signed in.">
      <div className="stack">
        <Search label="Name or e-mail address" placeholder="Name or whole e-mail address" />
        <Filters>
          <FilterSpan of="Created" value={created} onChoose={change} />
          {(created.from || created.to) && (
            <button
              type="button"
              className="button-word"
              onClick={() => change({ from: undefined, to: undefined })}
            >
              Clear filters
            </button>
          )}
        </Filters>
        <TableListing
          label="Customers"
          columns={COLUMNS}
          order={order}
          query={query}
          head={(found) => (
            <ListHead found={found}>
              <ExportCsv name="customers" read={(options) => admin.customers.csv({ ...asked, ...options })} />
            </ListHead>
          )}
          empty={
            filter ? (
              <Empty title="No customer found">
                {search.get("q")
                  ? "No customer has this name or address. A part of a name is enough; where there are very many customers, it must be the beginning."
                  : "No customer was created in this time."}
              </Empty>
            ) : (
              <Empty title="No customer yet">
                People become customers when they first sign in through a provider, or when they register with
                e-mail and password.
              </Empty>
            )
          }
        />
      </div>
    </Screen>
  );
}

const COLUMNS: readonly Column<Customer>[] = [
  {
    title: "Name",
    sort: "name",
    cell: ({ id, name }) => (
      <Link className="table-link" href={`/customers/${id}`}>
        {name}
      </Link>
    ),
  },
  {
    title: "E-mail",
    sort: "email",
    cell: ({ email, email_verified }) => (
      <>
        {email}
        {!email_verified && <span className="table-under">Not verified</span>}
      </>
    ),
  },
  { title: "Signs in with", cell: signsInWith },
  {
    title: "Created",
    sort: "-created_at",
    kind: "short",
    cell: ({ meta }) => <Instant at={meta.timestamps.created_at} />,
  },
  {
    title: "Changed",
    sort: "-updated_at",
    kind: "short",
    cell: ({ meta }) => <Instant at={meta.timestamps.updated_at} />,
  },
];

/** The list has no identities, so of a customer with a password only the origin is known. */
function signsInWith({ password, authentication_mechanism }: Customer): string {
  if (authentication_mechanism === "oidc") return password ? "Provider or password" : "Provider";
  return password ? "Password" : "No password";
}
