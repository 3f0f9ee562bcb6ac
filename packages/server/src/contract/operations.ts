import * as accessTokens from "./access-tokens.ts";
import * as applicationKeys from "./application-keys.ts";
import type { Operation } from "./operation.ts";
import * as service from "./service.ts";
import * as store from "./store.ts";

/** The whole surface. A test holds that routes.ts serves every one of them. */
export const operations: readonly Operation[] = [
  ...Object.values(accessTokens),
  ...Object.values(applicationKeys),
  ...Object.values(store),
  ...Object.values(service),
];
