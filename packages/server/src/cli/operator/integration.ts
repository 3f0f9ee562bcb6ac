import { byOperator } from "../../events/event.ts";
import { enableIntegration } from "../../integrations/administer.ts";
import { integrationResource } from "../../integrations/resource.ts";
import { type FromStore, fromStore } from "./require-store.ts";
import { printAnswer } from "./show-list.ts";

/** Enables a webhook that a restore has disabled. */
export async function enable({ store, id, json }: FromStore & { id: string }): Promise<void> {
  const integration = await fromStore(store, async (deps, storeId) =>
    integrationResource(deps, await enableIntegration(deps, byOperator(storeId), id)),
  );
  const { name, observes, configuration } = integration;
  const { host } = new URL(configuration.url);
  printAnswer(json, { integration }, `enabled ${id}  ${name}: sends ${observes.join(", ")} to ${host}`);
}
