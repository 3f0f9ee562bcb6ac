import type { Admin, Event } from "@latchkey/sdk/admin";

type Wanted = { types?: readonly string[] | undefined; filter?: string | undefined };
/** `before`: the argument for the next call, which reads older events; undefined if there are none. */
type Read = { events: Event[]; before: number | undefined };

const PAGE = 50;

/**
 * Reads the newest events before a number, newest first. The service lists the oldest first, so the function
 * reads a range before the number, then a range of twice the length before that, until it has enough. So it
 * finds rare events in few requests.
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
      // The range has more events than a page, and its last events are needed first.
      stretch = PAGE;
      continue;
    }
    events.push(...page.data.filter(({ sequence }) => Number(sequence) < end).reverse());
    end = after + 1;
    stretch *= 2;
  }
  return { events, before: end > first ? end : undefined };
}
