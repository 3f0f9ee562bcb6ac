import type { Member } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { Copyable } from "../parts/forms/copy.tsx";
import { useAct } from "../parts/forms/use-act.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { type Column, TableListing } from "../parts/lists/table.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { useRealms } from "../parts/realms.ts";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin, useSession } from "../session/session.ts";
import { ChangeMemberRole, Invite, RemoveMember } from "./change-member.tsx";
import { Invitation } from "./invitation.tsx";
import { addressOf } from "./invitation-text.ts";

export function Members() {
  const can = useCan();
  const [isInviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<Member>();
  return (
    <Screen
      title="Members"
      lead="People of the store, who sign in here as themselves. What they change is in the log under their name."
      actions={
        can("administer") && (
          <button type="button" className="button" onClick={() => setInviting(true)}>
            Invite a colleague
          </button>
        )
      }
    >
      {can("administer") ? (
        <div className="stack-wide">
          <WayIn />
          <People />
        </div>
      ) : (
        <NotOffered act="administer" isWhole />
      )}
      {isInviting && (
        <Invite
          onClose={() => setInviting(false)}
          onInvited={(member) => {
            setInviting(false);
            setInvited(member);
          }}
        />
      )}
      {invited && <Invitation member={invited} onClose={() => setInvited(undefined)} />}
    </Screen>
  );
}

/** The URL to send to members, if there is a realm for members with a provider. */
function WayIn() {
  const admin = useAdmin();
  const { store } = useSession();
  const queries = useQueryClient();
  const query = useRealms();
  const { isBusy, error, run } = useAct(async () => {
    await admin.realms.create({ name: "Members", purpose: "members" });
    await queries.invalidateQueries({ queryKey: ["realms"] });
  });
  return (
    <Asked query={query}>
      {(realms) => {
        const realm = realms.find(({ purpose }) => purpose === "members");
        if (!realm)
          return (
            <Empty
              title="Members cannot sign in yet"
              action={
                <>
                  {error !== undefined && <Problem error={error} />}
                  <button
                    type="button"
                    className="button button-plain"
                    disabled={isBusy}
                    onClick={() => run()}
                  >
                    Make a realm for members
                  </button>
                </>
              }
            >
              Members have a realm of their own, with an identity provider that your people have accounts at:
              your company’s directory. Make the realm, add the provider to it, and invite people by e-mail.
            </Empty>
          );
        return (
          <section className="card stack" aria-label="The way in">
            <div className="stack-tight">
              <strong>The address to send to your people</strong>
              <Copyable text={addressOf(store.id, location.origin)} what="address for members" />
            </div>
            <p className="quiet small">
              They sign in through a provider of the realm “{realm.name}”.{" "}
              <Link href="/providers">Look at the providers</Link>
            </p>
          </section>
        );
      }}
    </Asked>
  );
}

function People() {
  const admin = useAdmin();
  const query = useListed(["members"], (page) => admin.members.list(page), { limit: 50 });
  return (
    <TableListing
      label="Members"
      columns={COLUMNS}
      query={query}
      head={(found) => (
        <ListHead found={found}>
          <ExportCsv name="members" read={(options) => admin.members.csv(options)} />
        </ListHead>
      )}
      empty={
        <Empty title="No member yet">
          Invite people by the e-mail address that their provider has verified. You get a text to send to
          each.
        </Empty>
      }
    />
  );
}

const COLUMNS: readonly Column<Member>[] = [
  {
    title: "Name",
    cell: ({ name, email }) => (
      <>
        <span className="item-name">{name}</span>
        <span className="table-under">{email}</span>
      </>
    ),
  },
  { title: "Role", kind: "short", cell: ({ role }) => role },
  {
    title: "State",
    kind: "short",
    cell: ({ meta: { status } }) => (
      <Pill tone={status === "active" ? "good" : "plain"}>{status === "active" ? "Active" : "Invited"}</Pill>
    ),
  },
  {
    title: "Last signed in",
    kind: "short",
    cell: ({ meta }) => <Instant at={meta.last_signed_in_at} />,
  },
  { title: "Actions", kind: "acts", cell: (member) => <MemberActs member={member} /> },
];

function MemberActs({ member }: { member: Member }) {
  const [open, setOpen] = useState<"invitation" | "role" | "remove">();
  const close = () => setOpen(undefined);
  return (
    <>
      <span className="row">
        {member.meta.status === "invited" && (
          <button
            type="button"
            className="button button-plain button-small"
            onClick={() => setOpen("invitation")}
          >
            Invitation<span className="only-read-out"> for {member.name}</span>
          </button>
        )}
        <button type="button" className="button button-plain button-small" onClick={() => setOpen("role")}>
          Change role<span className="only-read-out"> of {member.name}</span>
        </button>
        <button
          type="button"
          className="button button-bad-plain button-small"
          onClick={() => setOpen("remove")}
        >
          Remove<span className="only-read-out"> {member.name}</span>
        </button>
      </span>
      {open === "invitation" && <Invitation member={member} onClose={close} />}
      {open === "role" && <ChangeMemberRole member={member} onClose={close} />}
      {open === "remove" && <RemoveMember member={member} onClose={close} />}
    </>
  );
}
