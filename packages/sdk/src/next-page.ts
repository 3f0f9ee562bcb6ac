/**
 * Reads the position of the next page from the service's `next` link. The SDK does not follow the link
 * itself, because the link may name another host.
 */
export function nextPage(link: string | null): { offset?: number; after?: string } | undefined {
  if (link === null) return undefined;
  const { searchParams } = new URL(link);
  const [after, offset] = [searchParams.get("page[after]"), searchParams.get("page[offset]")];
  return { ...(offset !== null && { offset: Number(offset) }), ...(after !== null && { after }) };
}
