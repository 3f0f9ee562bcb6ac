import { authorize, callback, redeemAlone } from "./parts.ts";
import { readKey, readOwnCustomer, readProviders, readSettings } from "./reads.ts";
import { knownShopper, newShopper } from "./sign-on.ts";
import type { Workload } from "./workload.ts";
import { accessToken, passwordSignIn, putKey } from "./writes.ts";

/** In the order of the table. The parts of a sign-on come first, because they warm up faster than the slow whole. */
export const workloads: readonly Workload[] = [
  authorize,
  callback,
  redeemAlone,
  newShopper,
  knownShopper,
  readSettings,
  readProviders,
  readKey,
  readOwnCustomer,
  putKey,
  accessToken,
  passwordSignIn,
];
