import * as token from "./access-tokens.ts";
import * as key from "./application-keys.ts";
import type { Operation } from "./operation.ts";
import * as service from "./service.ts";
import * as store from "./store.ts";

/** The whole surface, in the order in which the reference shows it. A test holds that routes.ts serves it all. */
export const operations: readonly Operation[] = [
  token.issueAccessToken,
  token.introspectToken,
  token.revokeToken,
  key.listApplicationKeys,
  key.createApplicationKey,
  key.getApplicationKey,
  key.updateApplicationKey,
  key.deleteApplicationKey,
  key.rotateApplicationKey,
  key.dryRunApplicationKey,
  store.getStore,
  store.updateStore,
  service.live,
  service.ready,
  service.metrics,
  service.openapi,
];
