import { byOperator } from "../../events/event.ts";
import { enableIntegration } from "../../integrations/administer.ts";
import { integrationResource } from "../../integrations/resource.ts";
import { type FromStore, fromStore } from "./require-store.ts";

/** Enables a webhook that a restore has disabled. */
export async function enable({ store, id, json }: FromStore & { id: string }): Promise<void> {
  const integration = await fromStore(store, async (deps, storeId) =>
    integrationResource(deps, await enableIntegration(deps, byOperator(storeId), id)),
  );
  const { name, observes, configuration } = integration;
  console.log(
    json
      ? JSON.stringify({ integration })
      : `enabled ${id}  ${name}: sends ${observes.join(", ")} to ${new URL(configuration.url).host}`,
  );
}
