import type { Customer, CustomerTokenEntry } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useAct } from "../parts/forms/use-act.ts";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { NotOffered } from "../parts/not-offered.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";

/** The customer's sessions. After the end of a session the shopper's next request is refused. */
export function Sessions({ customer }: { customer: Customer }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const tokens = admin.customerTokens(customer.id);
  const query = useListed(["tokens", customer.id], (page) => tokens.list(page), { limit: 25 });
  const { isBusy, error, run } = useAct(async (one: CustomerTokenEntry | undefined) => {
    await (one ? tokens.revoke(one.id) : tokens.revokeAll());
    say(one ? "The session is ended." : `${customer.name} is signed out everywhere.`);
    await queries.invalidateQueries({ queryKey: ["tokens", customer.id] });
  });
  return (
    <section className="stack" aria-labelledby="sessions">
      <h2 id="sessions">Signed in now</h2>
      {error !== undefined && <Problem error={error} />}
      <Listing
        query={query}
        empty={<Empty title="Nowhere">No session of this customer is alive.</Empty>}
        head={() =>
          can("revoke_tokens") ? (
            <p>
              <button
                type="button"
                className="button button-plain"
                disabled={isBusy}
                onClick={() => run(undefined)}
              >
                End all sessions
              </button>
            </p>
          ) : (
            <NotOffered act="revoke_tokens" />
          )
        }
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
                ends <Instant at={token.expires * 1000} isExact />
              </span>
              {can("revoke_tokens") && (
                <button
                  type="button"
                  className="button button-plain button-small"
                  disabled={isBusy}
                  onClick={() => run(token)}
                >
                  End this session
                </button>
              )}
            </span>
          </div>
        )}
      </Listing>
    </section>
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
