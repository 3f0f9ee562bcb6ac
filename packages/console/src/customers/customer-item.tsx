import type { Customer } from "@latchkey/sdk/admin";
import { Link } from "wouter";
import { Instant } from "../parts/text/instant.tsx";

export function CustomerItem({ customer }: { customer: Customer }) {
  return (
    <Link className="item" href={`/customers/${customer.id}`}>
      <span className="item-words">
        <span className="item-name">{customer.name}</span> <span className="quiet">{customer.email}</span>
      </span>
      <span className="item-side">
        <span>{customer.password ? "with a password" : "without a password"}</span>
        <span>
          {customer.authentication_mechanism === "oidc" ? "came through a provider" : "came"}{" "}
          <Instant at={customer.meta.timestamps.created_at} />
        </span>
      </span>
    </Link>
  );
}
