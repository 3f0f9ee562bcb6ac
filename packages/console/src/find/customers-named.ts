import { type Admin, ApiError, type Customer, type ListQuery, type Page } from "@latchkey/sdk/admin";

/** A filter for these words anywhere in a customer's name. */
export const named = (words: string): string => `${ANYWHERE}${words}*)`;

const ANYWHERE = "like(name,*";
const AT_THE_BEGINNING = "like(name,";

/** In a store with too many customers to look at the whole of each name, an index still finds those that begin with the words. */
export async function listCustomers(
  { customers }: { customers: Pick<Admin["customers"], "list"> },
  query: ListQuery,
): Promise<Page<Customer>> {
  try {
    return await customers.list(query);
  } catch (error) {
    const { filter = "" } = query;
    const isTooWide = error instanceof ApiError && error.code === "filter_too_wide";
    if (!isTooWide || !filter.startsWith(ANYWHERE)) throw error;
    return customers.list({ ...query, filter: filter.replace(ANYWHERE, AT_THE_BEGINNING) });
  }
}
