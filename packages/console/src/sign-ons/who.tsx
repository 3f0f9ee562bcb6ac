import { type Admin, ApiError, type SignOn } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { inTurn } from "../parts/in-turn.ts";
import { useAdmin } from "../session/session.ts";

/** A page of sign-ons has up to 25 customers, and their names must not use up the store's requests at once. */
const ask = inTurn(2);

const KEPT_MS = 300_000;

async function nameOf({ customers }: Pick<Admin, "customers">, id: string): Promise<string | null> {
  try {
    return (await customers.get(id)).data.name;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** The customer of a sign-on. A record has the customer's id alone, so the name is read here. */
export function Who({ of: { customer_id: id } }: { of: Pick<SignOn, "customer_id"> }) {
  if (id === null) return <span className="quiet">Not identified</span>;
  return <Named id={id} />;
}

function Named({ id }: { id: string }) {
  const admin = useAdmin();
  const { data, isPending } = useQuery({
    queryKey: ["names", id],
    queryFn: () => ask(() => nameOf(admin, id)),
    staleTime: KEPT_MS,
  });
  if (isPending) return <span className="skeleton table-name" aria-busy="true" />;
  if (data === null) return <span className="quiet">Deleted customer</span>;
  return (
    <Link className="table-other" href={`/customers/${id}`}>
      <bdi>{data ?? "Customer"}</bdi>
    </Link>
  );
}
