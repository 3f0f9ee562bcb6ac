/**
 * Where the page after this one is, as the service's link to it says. The link itself is not followed, since it may name
 * another host.
 */
export function nextPage(link: string | null): { offset?: number; after?: string } | undefined {
  if (link === null) return undefined;
  const { searchParams } = new URL(link);
  const [after, offset] = [searchParams.get("page[after]"), searchParams.get("page[offset]")];
  return { ...(offset !== null && { offset: Number(offset) }), ...(after !== null && { after }) };
}
