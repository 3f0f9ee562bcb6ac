import { ApiError } from "@latchkey/sdk";
import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { findToken, shop } from "../../lib/shop";

export const metadata: Metadata = { title: "Your account" };

/** The service checks the token: with one that has ended, nobody is signed in. */
async function findCustomer() {
  const token = await findToken();
  if (!token) return undefined;
  try {
    return await shop.customer(token).get();
  } catch (error) {
    if (error instanceof ApiError && error.code === "customer_token_invalid") return undefined;
    throw error;
  }
}

export default async function Account() {
  const customer = await findCustomer();
  if (!customer) redirect("/sign-in");
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
