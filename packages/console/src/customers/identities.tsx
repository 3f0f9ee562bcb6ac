import { useQuery } from "@tanstack/react-query";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { useAdmin } from "../session/session.ts";

/** The customer's subjects at the identity providers. A sign-on with such a subject signs the customer in. */
export function Identities({ customerId }: { customerId: string }) {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["customers", customerId, "identities"],
    queryFn: async () => (await admin.customers.identities(customerId)).data,
  });
  return (
    <section className="stack" aria-labelledby="identities">
      <h2 id="identities">Known to providers as</h2>
      <Asked
        query={query}
        empty={(list) =>
          list.length === 0 && <Empty title="To none">This person has never come through a provider.</Empty>
        }
      >
        {(list) => (
          <Items items={list}>
            {({ profile_name, issuer, subject, meta }) => (
              <div className="item">
                <span className="item-words">
                  <span className="item-name">{profile_name ?? "A provider that was removed"}</span>
                  <br />
                  <span className="quiet small">
                    <code>{subject}</code> at {issuer}
                  </span>
                </span>
                <span className="item-side">
                  <span>
                    first came <Instant at={meta.timestamps.created_at} isExact />
                  </span>
                </span>
              </div>
            )}
          </Items>
        )}
      </Asked>
    </section>
  );
}
