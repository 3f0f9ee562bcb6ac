import { type Admin, ApiError, type Customer, type ListQuery, type Page } from "@latchkey/sdk/admin";

/** A filter for these words anywhere in a customer's name. */
export const named = (words: string): string => `${ANYWHERE}${words}*)`;

const ANYWHERE = "like(name,*";
const AT_THE_BEGINNING = "like(name,";

/**
 * Searches names that contain the words. In a store with too many customers, searches names that begin with
 * the words, by index.
 */
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
