import type { Customer } from "@latchkey/sdk/admin";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Copy } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { Items } from "../parts/lists/items.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { Screen } from "../parts/screen.tsx";
import { counted, sentence } from "../parts/text/counts.ts";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { SignOnItem } from "../parts/text/outcome.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Identities } from "./identities.tsx";
import { Sessions, sessionsOf } from "./sessions.tsx";

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
          <dt>Id</dt>
          <dd>
            <code>{customer.id}</code> <Copy text={customer.id} what="customer id" word />
          </dd>
        </dl>
      </section>
      <Sessions customer={customer} />
      <Identities customerId={customer.id} />
      <SignOns customerId={customer.id} />
      <Erase customer={customer} />
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

function Erase({ customer }: { customer: Customer }) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="stack" aria-labelledby="erase">
      <h2 id="erase">Erase</h2>
      <p className="quiet">
        Deletes the customer, and takes the person’s data out of the log of events, for good. For a request
        under data protection law.
      </p>
      {can("administer") ? (
        <p>
          <button type="button" className="button button-bad-plain" onClick={() => setOpen(true)}>
            Erase this customer
          </button>
        </p>
      ) : (
        <NotOffered act="administer" />
      )}
      {isOpen && (
        <Confirm
          title={`Erase ${customer.name}?`}
          says="This deletes the customer and takes the person’s data out of the log of events, for good. The person is signed out everywhere. If they come back, they are a new customer."
          figures={[
            sessionsOf(admin, customer),
            {
              about: "links to providers",
              read: async () => {
                const { data } = await admin.customers.identities(customer.id);
                return sentence(`${counted(data.length, "link")} to a provider’s account.`);
              },
            },
          ]}
          act="Erase for good"
          name={{ what: "e-mail address", is: customer.email }}
          onClose={() => setOpen(false)}
          onConfirm={async () => {
            await admin.customers.erase(customer.id);
            say(`${customer.name} is erased.`);
            go("/customers");
            queries.removeQueries({ queryKey: ["customers", customer.id] });
            await queries.invalidateQueries({ queryKey: ["customers"] });
          }}
        />
      )}
    </section>
  );
}
