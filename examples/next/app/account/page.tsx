import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { findCustomer } from "../../lib/shop";

export const metadata: Metadata = { title: "Your account" };

export default async function Account() {
  const customer = await findCustomer();
  if (!customer) redirect("/account/ended");
  return (
    <>
      <h1>Hello, {customer.name}</h1>
      <section className="card">
        <h2>What we know about you</h2>
        <dl>
          <div>
            <dt>Name</dt>
            <dd>{customer.name}</dd>
          </div>
          <div>
            <dt>E-mail</dt>
            <dd>{customer.email}</dd>
          </div>
        </dl>
      </section>
      <form method="post" action="/sign-out">
        <button className="button plain" type="submit">
          Sign out
        </button>
      </form>
    </>
  );
}
