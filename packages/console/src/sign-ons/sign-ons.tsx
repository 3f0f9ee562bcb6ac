import type { SignOn } from "@latchkey/sdk/admin";
import { Link } from "wouter";
import { readOrder, useAddress } from "../parts/lists/address.ts";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { type Column, TableListing } from "../parts/lists/table.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { Outcome } from "../parts/text/outcome.tsx";
import { useAdmin } from "../session/session.ts";
import { FilterSignOns } from "./filter-sign-ons.tsx";
import { filterOf, isNarrowed, type People, readWanted } from "./wanted.ts";
import { Who } from "./who.tsx";

export function SignOns() {
  const admin = useAdmin();
  const [search] = useAddress();
  const wanted = readWanted(search);
  const filter = filterOf(wanted);
  const order = readOrder(search, ["started_at"], "-started_at");
  const asked = { filter, ...(order && { sort: order }) };
  const query = useListed(
    ["sign-ons", filter, order],
    (page) => admin.signOns.list(page),
    { limit: 25, ...asked },
    15_000,
  );
  return (
    <Screen
      title="Sign-ons"
      lead="Every sign-on that is still on record: who, through which provider, when, and how it ended."
    >
      <div className="stack">
        <FilterSignOns wanted={wanted} />
        <TableListing
          label="Sign-ons"
          columns={columnsOf(wanted.people)}
          order={order}
          query={query}
          head={(found) => (
            <ListHead found={found}>
              <ExportCsv name="sign-ons" read={(options) => admin.signOns.csv({ ...asked, ...options })} />
            </ListHead>
          )}
          empty={<Nothing people={wanted.people} isNarrowed={isNarrowed(wanted)} />}
        />
      </div>
    </Screen>
  );
}

const COLUMNS: readonly Column<SignOn>[] = [
  {
    title: "Reference",
    cell: ({ id, reference }) => (
      <Link className="table-link mono" href={`/sign-ons/${id}`}>
        {reference}
      </Link>
    ),
  },
  { title: "Who", cell: (signOn) => <Who of={signOn} /> },
  {
    title: "Provider",
    cell: ({ profile_name }) => profile_name ?? <span className="quiet">Not chosen</span>,
  },
  {
    title: "Outcome",
    cell: ({ outcome, reason }) => (
      <span className="table-outcome">
        <Outcome of={outcome} />
        {reason && <code className="quiet">{reason}</code>}
      </span>
    ),
  },
  {
    title: "Browser",
    cell: ({ browser, operating_system }) =>
      [browser, operating_system].filter(Boolean).join(", ") || <span className="quiet">Not known</span>,
  },
  {
    title: "When",
    sort: "-started_at",
    kind: "short",
    cell: ({ meta }) => <Instant at={meta.timestamps.started_at} />,
  },
];

/** Only the record of a shopper has a customer. */
const columnsOf = (people: People): readonly Column<SignOn>[] =>
  people === "shoppers" ? COLUMNS : COLUMNS.filter(({ title }) => title !== "Who");

const NONE: Record<People, { title: string; why: string }> = {
  shoppers: {
    title: "No sign-on yet",
    why: "Each sign-on of a shopper appears here within a second, with every check that was made.",
  },
  members: {
    title: "No member has signed in yet",
    why: "Members sign in to this console through a provider of their realm. Invite them under Members.",
  },
  tests: {
    title: "No test sign-on yet",
    why: "Open a provider and press “Test sign-on”. A test creates no customer.",
  },
};

function Nothing({ people, isNarrowed }: { people: People; isNarrowed: boolean }) {
  if (isNarrowed)
    return (
      <Empty title="No such sign-on">
        No sign-on on record fits these filters. Records are deleted after some weeks, so an old sign-on may
        be gone.
      </Empty>
    );
  const { title, why } = NONE[people];
  return <Empty title={title}>{why}</Empty>;
}
