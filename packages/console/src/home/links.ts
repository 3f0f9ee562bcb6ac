/** The address of the list of these sign-ons. Without `people` the list shows shoppers. */
export type SignOnsAt = {
  from: number;
  to: number;
  outcome?: "signed_in" | "not_finished" | "failed" | undefined;
  provider?: string | undefined;
};

export function signOnsPath({ from, to, outcome, provider }: SignOnsAt): string {
  const search = new URLSearchParams();
  if (outcome) search.set("outcome", outcome);
  if (provider) search.set("provider", provider);
  search.set("from", new Date(from).toISOString());
  search.set("to", new Date(to).toISOString());
  return `/sign-ons?${search}`;
}
