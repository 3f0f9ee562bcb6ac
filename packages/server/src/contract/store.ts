import { z } from "zod";
import { operation } from "./operation.ts";
import { id, name, rateLimit, timestamp, url } from "./shapes.ts";

const store = z
  .strictObject({
    id,
    type: z.literal("store"),
    name: z.string(),
    rate_limit: z.int().describe("Requests per second, over all application keys"),
    meta: z.strictObject({
      max_rate_limit: z.int().describe("How high the operator lets the limit be set"),
      total_reserved_rate_limit: z.int(),
      timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
    }),
  })
  .meta({ id: "Store" });

const links = z.strictObject({ self: url });

export const getStore = operation({
  id: "getStore",
  tag: "Store",
  method: "GET",
  path: "/v2/store",
  summary: "Get the store that the access token belongs to",
  access: ["store", "read"],
  success: { status: 200, description: "The store", schema: z.strictObject({ data: store, links }) },
});

export const updateStore = operation({
  id: "updateStore",
  tag: "Store",
  method: "PUT",
  path: "/v2/store",
  summary: "Rename the store, or change its rate limit up to `meta.max_rate_limit`",
  access: ["store", "write"],
  body: {
    schema: z.object({
      data: z.object({
        type: z.literal("store"),
        name: name.optional().meta({ examples: ["My shop"] }),
        rate_limit: rateLimit
          .min(1)
          .optional()
          .meta({ examples: [200] }),
      }),
    }),
  },
  success: {
    status: 200,
    description: "The store as it is now",
    schema: z.strictObject({ data: store, meta: z.strictObject({ effective_by: timestamp }), links }),
  },
  problems: ["store_limit_below_reservations", "store_limit_above_ceiling"],
});
