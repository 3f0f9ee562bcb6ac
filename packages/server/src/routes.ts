import { introspectToken, revokeToken } from "./access/inspect.ts";
import { issueAccessToken } from "./access/issue.ts";
import type { Deps } from "./app.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "./application-keys/administer.ts";
import { getApplicationKey, listApplicationKeys } from "./application-keys/application-key.ts";
import { dryRun } from "./application-keys/dry-run.ts";
import * as show from "./application-keys/present.ts";
import { rotateSecret } from "./application-keys/secret.ts";
import * as token from "./contract/access-tokens.ts";
import * as key from "./contract/application-keys.ts";
import { openapiDocument } from "./contract/openapi.ts";
import { toPage } from "./contract/paging.ts";
import * as service from "./contract/service.ts";
import * as store from "./contract/store.ts";
import { on, type Route } from "./http/serve.ts";
import { getStore, updateStore } from "./stores/administer.ts";
import { presentChangedStore, presentStore, toStoreChange } from "./stores/present.ts";

/** The switchboard: every operation of the contract, and what does it. */
// biome-ignore format: one operation a line
export const routes = (app: Deps): Route[] => [
  on(token.issueAccessToken,   ({ authorization, body }) => issueAccessToken(app, authorization, body)),
  on(token.introspectToken,    ({ authorization, body }) => introspectToken(app, authorization, body)),
  on(token.revokeToken,        ({ authorization, body }) => revokeToken(app, authorization, body)),

  on(key.listApplicationKeys,  async ({ caller, query }) => show.presentKeyList(app, await listApplicationKeys(app, caller.storeId, toPage(query)))),
  on(key.createApplicationKey, async ({ caller, body }) => show.presentNewKey(app, await createApplicationKey(app, caller.storeId, show.toKeyChange(body)))),
  on(key.getApplicationKey,    async ({ caller, ids }) => show.presentKey(app, await getApplicationKey(app, caller.storeId, ids.id))),
  on(key.updateApplicationKey, async ({ caller, ids, body }) => show.presentChangedKey(app, await updateApplicationKey(app, caller.storeId, ids.id, show.toKeyChange(body)))),
  on(key.deleteApplicationKey, ({ caller, ids }) => deleteApplicationKey(app, caller.storeId, ids.id)),
  on(key.rotateApplicationKey, async ({ caller, ids, body }) => show.presentKeyWithSecret(app, await rotateSecret(app, caller.storeId, ids.id, body?.data.grace_seconds))),
  on(key.dryRunApplicationKey, async ({ caller, ids, body }) => show.presentForesight(app, await dryRun(app, caller.storeId, ids.id, show.toKeyChange(body)))),

  on(store.getStore,           async ({ caller }) => presentStore(app, await getStore(app, caller.storeId))),
  on(store.updateStore,        async ({ caller, body }) => presentChangedStore(app, await updateStore(app, caller.storeId, toStoreChange(body)))),

  on(service.live,             () => ({ status: "live" as const })),
  on(service.ready,            () => app.readiness.check()),
  on(service.metrics,          () => app.registry.metrics()),
  on(service.openapi,          () => openapiDocument(app.publicUrl)),
];
