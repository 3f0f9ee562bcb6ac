import { authorize, callback, redeemAlone } from "./parts.ts";
import { readKey, readOwnCustomer, readProviders, readSettings } from "./reads.ts";
import { knownShopper, newShopper } from "./sign-on.ts";
import type { Workload } from "./workload.ts";
import { accessToken, passwordSignIn, putKey } from "./writes.ts";

/** In the order of the table. */
export const workloads: readonly Workload[] = [
  newShopper,
  knownShopper,
  authorize,
  callback,
  redeemAlone,
  readSettings,
  readProviders,
  readKey,
  readOwnCustomer,
  putKey,
  accessToken,
  passwordSignIn,
];
