import type { Customer } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { Confirm } from "../parts/forms/confirm.tsx";
import { Download } from "../parts/lists/download.tsx";
import { NotOffered } from "../parts/not-offered.tsx";
import { counted, sentence } from "../parts/text/counts.ts";
import { say } from "../parts/text/notices.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { sessionsOf } from "./sessions.tsx";

/** For a request under data protection law: everything that is kept of the person, and its erasure. */
export function PersonalData({ customer }: { customer: Customer }) {
  const admin = useAdmin();
  const can = useCan();
  const [isErasing, setErasing] = useState(false);
  return (
    <section className="stack" aria-labelledby="personal-data">
      <h2 id="personal-data">Personal data</h2>
      <div className="stack-tight quiet">
        <p>
          <strong>Download data</strong> saves everything that is kept about this person as one file (GDPR,
          article 15). Make sure that the person who asks is this customer. The log notes who downloaded the
          file.
        </p>
        <p>
          <strong>Erase</strong> deletes the customer, and takes the person’s data out of the log of events,
          for good.
        </p>
      </div>
      {can("administer") ? (
        <div className="row">
          <Download
            label="Download data"
            name={`customer-${customer.id}.json`}
            type="application/json"
            read={(options) => admin.customers.exportFile(customer.id, options)}
          />
          <button
            type="button"
            className="button button-small button-bad-plain"
            onClick={() => setErasing(true)}
          >
            Erase this customer
          </button>
        </div>
      ) : (
        <NotOffered act="administer" />
      )}
      {isErasing && <Erase customer={customer} onClose={() => setErasing(false)} />}
    </section>
  );
}

function Erase({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const admin = useAdmin();
  const queries = useQueryClient();
  const [, go] = useLocation();
  return (
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
      onClose={onClose}
      onConfirm={async () => {
        await admin.customers.erase(customer.id);
        say(`${customer.name} is erased.`);
        go("/customers");
        queries.removeQueries({ queryKey: ["customers", customer.id] });
        await queries.invalidateQueries({ queryKey: ["customers"] });
      }}
    />
  );
}
