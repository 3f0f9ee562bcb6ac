import type { Customer } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import { Copy } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { SignOnItem } from "../parts/text/outcome.tsx";
import { useAdmin } from "../session/session.ts";
import { Identities } from "./identities.tsx";
import { PersonalData } from "./personal-data.tsx";
import { Sessions } from "./sessions.tsx";

export function CustomerScreen() {
  const { id = "" } = useParams<{ id: string }>();
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["customers", id],
    queryFn: async () => (await admin.customers.get(id)).data,
  });
  return (
    <Screen title={query.data?.name ?? "Customer"} crumb={{ to: "/customers", label: "Customers" }}>
      <Asked query={query}>{(customer) => <Shown customer={customer} />}</Asked>
    </Screen>
  );
}

function Shown({ customer }: { customer: Customer }) {
  return (
    <div className="stack-wide">
      <section className="card" aria-label="Who this is">
        <dl className="facts">
          <dt>E-mail</dt>
          <dd>
            {customer.email} {customer.email_verified ? "(verified)" : "(not verified)"}
          </dd>
          <dt>Password</dt>
          <dd>{customer.password ? "set" : "none: cannot sign in with e-mail"}</dd>
          {customer.external_ref && (
            <>
              <dt>External reference</dt>
              <dd>
                <code>{customer.external_ref}</code>
              </dd>
            </>
          )}
          <dt>Became a customer</dt>
          <dd>
            <Instant at={customer.meta.timestamps.created_at} isExact />
          </dd>
          <dt>ID</dt>
          <dd>
            <code>{customer.id}</code> <Copy text={customer.id} what="customer id" word />
          </dd>
        </dl>
      </section>
      <Sessions customer={customer} />
      <Identities customerId={customer.id} />
      <SignOns customerId={customer.id} />
      <PersonalData customer={customer} />
    </div>
  );
}

function SignOns({ customerId }: { customerId: string }) {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["sign-ons", "of", customerId],
    queryFn: async () =>
      (await admin.signOns.list({ filter: `eq(customer_id,${customerId})`, limit: 10 })).data,
  });
  return (
    <section className="stack" aria-labelledby="sign-ons">
      <h2 id="sign-ons">Latest sign-ons</h2>
      <Asked
        query={query}
        empty={(list) =>
          list.length === 0 && (
            <Empty title="None kept">This person has not signed in through a provider lately.</Empty>
          )
        }
      >
        {(list) => <Items items={list}>{(signOn) => <SignOnItem signOn={signOn} />}</Items>}
      </Asked>
    </section>
  );
}
