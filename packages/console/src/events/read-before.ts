import type { Admin, Event } from "@latchkey/sdk/admin";

type Wanted = { types?: readonly string[] | undefined; filter?: string | undefined };
/** `before`: where the part that comes after this one begins; undefined: there is nothing older. */
type Read = { events: Event[]; before: number | undefined };

const PAGE = 50;

/**
 * The newest events before a number, newest first. The service lists the oldest first, so a stretch before the number is read, and one
 * twice as long before that, until there are enough: of events that are rare in a long log, the last ones are found in few requests.
 */
export async function readBefore(
  { events: log }: { events: Pick<Admin["events"], "list"> },
  wanted: Wanted = {},
  before?: number,
  enough = PAGE / 2,
): Promise<Read> {
  const { data, lastSequence } = await log.list({ limit: 1 });
  const first = Number(data[0]?.sequence ?? Number(lastSequence) + 1);
  let end = before ?? Number(lastSequence) + 1;
  const events: Event[] = [];
  for (let stretch = PAGE; events.length < enough && end > first; ) {
    const after = Math.max(first, end - stretch) - 1;
    const page = await log.list({ ...wanted, after: String(after), limit: PAGE });
    const isWhole = page.next === undefined || Number(page.next.after) >= end - 1;
    if (!isWhole && stretch > PAGE) {
      // It has more than a page, and those next to its end are wanted first.
      stretch = PAGE;
      continue;
    }
    events.push(...page.data.filter(({ sequence }) => Number(sequence) < end).reverse());
    end = after + 1;
    stretch *= 2;
  }
  return { events, before: end > first ? end : undefined };
}
