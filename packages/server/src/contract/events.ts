import { z } from "zod";
import { filterParameter, instant, ofId, text } from "./filter.ts";
import { operation } from "./operation.ts";
import { reading } from "./resource.ts";
import { id, pageQuery, textOrNull, timestamp, url } from "./shapes.ts";

const hash = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/)
  .describe("SHA-256, base64url");
/**
 * One shape in place of a union of a text and the empty text, because generated clients use the first text of a union.
 */
const hashOrNone = z.string().regex(/^([A-Za-z0-9_-]{43})?$/);
const sequence = z.string().regex(/^\d+$/).describe("The event's number in its store: from 1, without gaps");

const change = z.union([
  z.strictObject({ before: z.unknown(), after: z.unknown() }),
  z.literal("(changed)").describe("A secret"),
]);

const happened = z.strictObject({
  resource: z
    .looseObject({ type: z.string(), id: z.string() })
    .describe("The resource as this API shows it to the back office; for a deletion, its type and id"),
  changes: z.record(z.string(), change).optional().describe("The members that an update has changed"),
  actor: z.strictObject({
    type: z.enum(["application_key", "member", "customer", "identity_provider", "operator", "service"]),
    id: textOrNull,
    name: textOrNull,
  }),
  request_id: textOrNull,
  withheld: z
    .literal(true)
    .optional()
    .describe(
      "Present if the reader's role may not see the whole event. `member.*`: the resource has only type and id, and `changes` is absent. `integration.*`: " +
        "the URL is its origin. An actor's name is null if it is a member's address. Such an event has no `salt`",
    ),
});

export const event = z
  .strictObject({
    specversion: z.literal("1.0"),
    id,
    source: url,
    type: z.string().meta({ examples: ["customer.created"] }),
    subject: z.string().describe("The id of the resource"),
    time: timestamp.describe("The time of the change. Numbers follow commits, so times can be out of order"),
    datacontenttype: z.literal("application/json"),
    storeid: id,
    sequence,
    salt: z
      .string()
      .optional()
      .describe(
        "16 random bytes, base64url; deleted with the data when a person is erased, and absent if something is `withheld`",
      ),
    digest: hash.describe("SHA-256 over the bytes of the salt and the canonical form of `data`, RFC 8785"),
    previoushash: hashOrNone.describe("`hash` of the previous event; empty for the first"),
    hash: hash.describe(
      "SHA-256 over the canonical form of all members but `hash`, `data` and `salt`, RFC 8785",
    ),
    data: z.union([happened, z.literal("(erased)").describe("The person of this event was erased")]),
  })
  .meta({ id: "Event" });

const after = z
  .string()
  .regex(/^\d{1,15}$/, { error: "expected the number of an event" })
  .transform(Number)
  .optional();

const LOG = { tag: "Events", access: "events" } as const;

export const listEvents = operation({
  id: "listEvents",
  ...reading(LOG),
  path: "/v2/events",
  summary: "Read the store's log: what happened, and who did it",
  description:
    "Oldest first. A page can have few events or none, because the service checked others that did not match: follow `links.next` until it is null. " +
    "Then continue later with `after` and the `meta.last_sequence` of that answer. A reader that follows the numbers misses no event, even if a " +
    "change was committed late. `filter=eq(request_id,…)` finds the changes of one request, by the `X-Request-Id` of its answer. Only " +
    "administrators see members and the URLs of webhooks: for other roles `withheld` marks the events that lack them; numbers and hashes are the same for all roles.",
  query: z.object({
    after: after.meta({
      type: "string",
      description: "Only events with a higher number than this; without it, from the oldest kept event",
    }),
    types: z
      .string()
      .max(1024)
      .regex(/^[a-z_]+\.([a-z_]+|\*)(,[a-z_]+\.([a-z_]+|\*))*$/, {
        error: "expected types such as customer.created or customer.*, joined by commas",
      })
      .transform((given) => given.split(","))
      .optional()
      .meta({ type: "string", description: "Only these types: `customer.created,customer_token.*`" }),
    filter: filterParameter({
      type: text,
      subject: ofId,
      actor: ofId,
      request_id: ofId,
      time: instant,
    }),
    "page[limit]": pageQuery.shape["page[limit]"],
  }),
  success: {
    status: 200,
    description: "One page of events",
    schema: z.strictObject({
      data: z.array(event),
      meta: z.strictObject({
        last_sequence: sequence.describe("The number of the store's last event; 0: none"),
      }),
      links: z.strictObject({ current: url, next: url.nullable() }),
    }),
  },
  problems: ["events_gone"],
});

export const streamEvents = operation({
  id: "streamEvents",
  ...reading(LOG),
  path: "/v2/events/stream",
  summary: "Follow the store's log as server-sent events",
  description:
    "Each message is an event as the list shows it; its id is the event's number. `Last-Event-ID` or `after` resumes after that number; without " +
    "either, the stream begins with the next event. It sends a comment every 15 seconds. It ends with the access token, and when the instance stops: connect again.",
  resumable: true,
  query: z.object({
    after: after.meta({ type: "string", description: "`Last-Event-ID` overrides it" }),
  }),
  success: {
    status: 200,
    description: "The events, until the stream ends",
    schema: z.string(),
    mediaType: "text/event-stream",
  },
  problems: ["events_gone", "streams_exceeded"],
});

export const getEventHead = operation({
  id: "getEventHead",
  ...reading(LOG),
  path: "/v2/events/head",
  summary: "Get both ends of the log, signed",
  description:
    "For an external witness. A stored head proves later that the log up to its number was not rewritten or cut at the beginning. Store the key set of `/.well-known/jwks.json` with it.",
  success: {
    status: 200,
    description: "The head of the log",
    schema: z.strictObject({
      data: z.strictObject({
        sequence: sequence.describe("0: there is no event yet"),
        hash: hashOrNone.describe("SHA-256, base64url; empty while there is no event"),
        first_sequence: sequence.describe("The number of the first kept event"),
        forgotten_hash: hashOrNone.describe(
          "`hash` of the event before that one; empty while no event was forgotten",
        ),
        signature: z
          .string()
          .describe("Compact JWS over `store`, the four members above and `time` by a key of the key set"),
      }),
    }),
  },
});
