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
      max_rate_limit: z.int().describe("The highest rate limit that the operator allows"),
      total_reserved_rate_limit: z.int(),
      sign_ups_per_network: z
        .int()
        .describe(
          "How many customers can be created in an hour from one network with public tokens; the operator sets it",
        ),
      sign_ups_per_hour: z.int().describe("The same, for all networks together"),
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
  summary: "Get the store of the access token",
  description: "The access token's store, with its rate limit.",
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
  summary: "Get the requests of the store's keys in each of the last seconds, and the refused ones",
  description:
    "With Valkey, of all instances; without it, of the answering instance. At most two seconds old.",
  query: z.object({
    seconds: wholeNumber(1, 3600).default(60).describe("The length of time, up to now"),
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
  description: "Absent members stay unchanged. The operator of the service sets `meta.max_rate_limit`.",
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
