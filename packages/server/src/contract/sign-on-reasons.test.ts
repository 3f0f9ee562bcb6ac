import { expect, test } from "vitest";
import { type SignOnReason, signOnReasonEntry, signOnReasons } from "./sign-on-reasons.ts";

/** The console sends what these ask for, so only a storefront's sign-on fails by them; or they are about customers. */
const OF_STOREFRONTS: readonly SignOnReason[] = [
  "parameter_repeated",
  "state_missing",
  "response_type_missing",
  "response_type_unsupported",
  "nonce_invalid",
  "max_age_invalid",
  "request_not_supported",
  "request_uri_not_supported",
  "registration_not_supported",
  "profile_direct",
  "id_token.auth_time_missing",
  "id_token.auth_time",
  "email_unverified",
  "email_taken",
];

test("a reason that a member of the store may meet at the console speaks of no shopper and no storefront", () => {
  const met = (Object.keys(signOnReasons) as SignOnReason[]).filter((one) => !OF_STOREFRONTS.includes(one));
  for (const reason of met) {
    const { means, remedy } = signOnReasonEntry(reason);
    expect(`${reason}: ${means} ${remedy}`).not.toMatch(/shopper|storefront/i);
  }
});
