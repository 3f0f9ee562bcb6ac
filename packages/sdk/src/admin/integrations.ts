import { pathOf } from "../access.ts";
import type * as wire from "../contract.ts";
import { type CsvQuery, readCsv } from "./csv.ts";
import type { AdminApi } from "./event-stream.ts";
import { type FilterQuery, type ListQuery, listing } from "./listing.ts";
import { type Answer, resource } from "./resource.ts";

const PATH = "/v2/integrations";

/** Webhooks. */
export const integrations = (api: AdminApi) => ({
  ...resource<{
    item: wire.Integration;
    fresh: wire.NewIntegration;
    change: wire.IntegrationChange;
    made: wire.IntegrationWithSecret;
  }>(api, PATH, "integration"),
  /** Creates a new signing secret. The previous secret signs beside it for 24 hours. */
  rotate: async (id: string) =>
    api<Answer<wire.IntegrationWithSecret>>({ method: "POST", path: `${PATH}${pathOf(id)}/rotate` }),
  /**
   * Lists deliveries and their outcome, the latest event first. `filter`:
   * `eq(status,failed):eq(type,customer.created)`.
   */
  deliveries: (id: string, query?: Omit<ListQuery, "sort">) =>
    listing<wire.IntegrationDelivery, ListQuery>(api, `${PATH}${pathOf(id)}/deliveries`, query),
  /** The same list as CSV, piece by piece. */
  deliveriesCsv: (id: string, query: CsvQuery<FilterQuery> = {}) =>
    readCsv(api, `${PATH}${pathOf(id)}/deliveries`, query),
  /** Sends a message again, now. */
  redeliver: async (id: string, deliveryId: string) =>
    api<{ data: wire.IntegrationDelivery }>({
      method: "POST",
      path: `${PATH}${pathOf(id)}/deliveries${pathOf(deliveryId)}/redeliver`,
    }),
  /** Sends past events, including events that were delivered before. */
  replay: async (id: string, range: wire.Replay) =>
    api<Answer<wire.Integration>>({
      method: "POST",
      path: `${PATH}${pathOf(id)}/replay`,
      data: range,
    }),
  /** Sends a test message, and returns the receiver's answer. */
  test: async (id: string) =>
    api<{ data: wire.IntegrationTest }>({ method: "POST", path: `${PATH}${pathOf(id)}/test` }),
});
