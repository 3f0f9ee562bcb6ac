/** The address of the list of these sign-ons. Without `people` the list shows shoppers. */
export type SignOnsAt = {
  from: number;
  to: number;
  outcome?: "signed_in" | "not_finished" | "failed" | undefined;
  /** The sign-ons at one provider, or by one key. */
  only?: { by: "provider" | "key"; id: string } | undefined;
};

export function signOnsPath({ from, to, outcome, only }: SignOnsAt): string {
  const search = new URLSearchParams();
  if (outcome) search.set("outcome", outcome);
  if (only) search.set(only.by, only.id);
  search.set("from", new Date(from).toISOString());
  search.set("to", new Date(to).toISOString());
  return `/sign-ons?${search}`;
}
