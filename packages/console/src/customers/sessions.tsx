import type { Admin, Customer, CustomerTokenEntry } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm } from "../parts/forms/confirm.tsx";
import type { Figure } from "../parts/forms/figures.tsx";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { NotOffered } from "../parts/not-offered.tsx";
import { countedList, sentence } from "../parts/text/counts.ts";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";

/** The customer's sessions. After the end of a session the shopper's next request is refused. */
export function Sessions({ customer }: { customer: Customer }) {
  const admin = useAdmin();
  const can = useCan();
  const tokens = admin.customerTokens(customer.id);
  const [ending, setEnding] = useState<CustomerTokenEntry | "all">();
  const query = useListed(["tokens", customer.id], (page) => tokens.list(page), { limit: 25 });
  return (
    <section className="stack" aria-labelledby="sessions">
      <h2 id="sessions">Signed in now</h2>
      <Listing
        query={query}
        empty={<Empty title="Nowhere">No session of this customer is alive.</Empty>}
        head={() => (
          <div className="list-head">
            {can("revoke_tokens") ? (
              <button type="button" className="button button-plain" onClick={() => setEnding("all")}>
                End all sessions
              </button>
            ) : (
              <NotOffered act="revoke_tokens" />
            )}
            <ExportCsv name="sessions" read={(options) => tokens.csv(options)} />
          </div>
        )}
      >
        {(token) => (
          <div className="item">
            <span className="item-words">
              {token.profile_name ? `through ${token.profile_name}` : "with e-mail and password"}
              <br />
              <span className="quiet small">{deviceInWords(token)}</span>
            </span>
            <span className="item-side">
              <span>
                began <Instant at={token.meta.timestamps.created_at} isExact />
              </span>
              <span>
                ends <Instant at={token.expires * 1000} isExact isAhead />
              </span>
              {can("revoke_tokens") && (
                <button
                  type="button"
                  className="button button-plain button-small"
                  onClick={() => setEnding(token)}
                >
                  End this session
                </button>
              )}
            </span>
          </div>
        )}
      </Listing>
      {ending && <EndSessions customer={customer} ending={ending} onClose={() => setEnding(undefined)} />}
    </section>
  );
}

export const sessionsOf = (admin: Pick<Admin, "customerTokens">, customer: Pick<Customer, "id">): Figure => ({
  about: "sessions",
  read: async () => {
    const found = await admin.customerTokens(customer.id).list({ limit: 1 });
    return sentence(`${countedList(found, "session")} of this customer now.`);
  },
});

type EndProps = { customer: Customer; ending: CustomerTokenEntry | "all"; onClose: () => void };

function EndSessions({ customer, ending, onClose }: EndProps) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const tokens = admin.customerTokens(customer.id);
  const isAll = ending === "all";
  return (
    <Confirm
      title={isAll ? `End all sessions of ${customer.name}?` : `End this session of ${customer.name}?`}
      says={
        isAll
          ? "The customer is signed out everywhere: the next request of each session is refused. They can sign in again."
          : `The customer is signed out there (${deviceInWords(ending)}): the next request of this session is refused. They can sign in again.`
      }
      figures={[sessionsOf(admin, customer)]}
      act={isAll ? "End all sessions" : "End session"}
      onClose={onClose}
      onConfirm={async () => {
        await (isAll ? tokens.revokeAll() : tokens.revoke(ending.id));
        say(isAll ? `${customer.name} is signed out everywhere.` : "The session is ended.");
        await queries.invalidateQueries({ queryKey: ["tokens", customer.id] });
      }}
    />
  );
}

/**
 * "Chrome 126 on Linux, from 203.0.113.0/24". The browser is unknown if a server of the storefront redeemed
 * the code.
 */
function deviceInWords({ browser, operating_system, network }: CustomerTokenEntry): string {
  const device = [browser, operating_system].filter(Boolean).join(" on ") || "no browser known";
  return network ? `${device}, from ${network}` : device;
}
