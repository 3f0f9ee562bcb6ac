import { z } from "zod";
import { operation } from "./operation.ts";
import { answerOf, bodyOf, changing, reading } from "./resource.ts";
import { id, links, name, rateLimit, timestamp, wholeNumber } from "./shapes.ts";

const store = z
  .strictObject({
    id,
    type: z.literal("store"),
    name: z.string(),
    rate_limit: z.int().describe("Requests per second, over all application keys"),
    meta: z.strictObject({
      max_rate_limit: z.int().describe("How high the operator lets the limit be set"),
      total_reserved_rate_limit: z.int(),
      sign_ups_per_network: z
        .int()
        .describe(
          "How many customers public tokens may create in an hour from one network; the operator sets it",
        ),
      sign_ups_per_hour: z.int().describe("How many in an hour from all networks together"),
      timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
    }),
  })
  .meta({ id: "Store" });

const storeAnswer = answerOf(store);

const STORE = { tag: "Store", access: "store" } as const;

export const getStore = operation({
  id: "getStore",
  ...reading(STORE),
  path: "/v2/store",
  summary: "Get the store that the access token belongs to",
  description: "The store that the access token is of, with its rate limit.",
  success: { status: 200, description: "The store", schema: storeAnswer },
});

export const getStoreById = operation({
  id: "getStoreById",
  ...reading(STORE),
  path: "/v2/stores/{id}",
  summary: "Get the store by its id",
  description: "The same as `GET /v2/store`, for clients that take the id from `GET /v2/settings`.",
  ids: { id: "store_not_found" },
  success: { status: 200, description: "The store", schema: storeAnswer },
});

const perSecond = z.array(z.int()).describe("For each second, the oldest first");

export const getStoreUsage = operation({
  id: "getStoreUsage",
  ...reading(STORE),
  path: "/v2/store/usage",
  summary: "What the store's keys asked for in each of the last seconds, and what was refused",
  description:
    "Over all instances where they share a Valkey, else of the instance that answers. At most two seconds behind.",
  query: z.object({
    seconds: wholeNumber(1, 3600).default(60).describe("How far back"),
  }),
  success: {
    status: 200,
    description: "The figures",
    schema: z.strictObject({
      data: z.strictObject({
        type: z.literal("store-usage"),
        from: timestamp,
        to: timestamp,
        rate_limit: z.int(),
        shared_pool: z.int().describe("The rate that no key has reserved"),
        keys: z
          .array(
            z.strictObject({
              id,
              name: z.string(),
              reserved_rate_limit: z.int(),
              asked: perSecond,
              refused: perSecond,
            }),
          )
          .describe("The keys with requests or a reservation; the key with the most requests comes first"),
        other_keys: z
          .strictObject({ count: z.int(), asked: perSecond, refused: perSecond })
          .optional()
          .describe("The sum of all further keys, if there are too many to list"),
      }),
      links,
    }),
  },
});

export const updateStore = operation({
  id: "updateStore",
  ...changing(STORE),
  method: "PUT",
  path: "/v2/store",
  summary: "Rename the store, or change its rate limit up to `meta.max_rate_limit`",
  description: "Changes the rate limit, up to what the operator of the service allows.",
  ofStore: true,
  body: bodyOf({
    type: z.literal("store"),
    name: name.optional().meta({ examples: ["My shop"] }),
    rate_limit: rateLimit
      .min(1)
      .optional()
      .meta({ examples: [100] }),
  }),
  success: {
    status: 200,
    description: "The store as it is now",
    schema: z.strictObject({ data: store, meta: z.strictObject({ effective_by: timestamp }), links }),
  },
  problems: ["store_limit_below_reservations", "store_limit_above_ceiling"],
});
