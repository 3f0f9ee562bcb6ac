import { z } from "zod";
import { links, profiles } from "./oidc-profiles.ts";
import { operation } from "./operation.ts";
import { timestamp, url } from "./shapes.ts";

export const testSignOn = operation({
  id: "testSignOn",
  ...profiles.action("test-sign-on"),
  summary: "Sign in once as a person, to see every check",
  description:
    "Gives an address for one browser, once, within ten minutes. The whole sign-on then ends on a page of ours that shows every check with both sides, how long each step took and what requirements R4 and R6 to R9 now say; and in a record with `test: true`. It makes no customer, no identity, no code, no token and no event. Also for a profile that is not enabled yet.",
  role: "support",
  success: {
    status: 200,
    description: "Where to go",
    schema: z.strictObject({
      data: z.strictObject({
        type: z.literal("test-sign-on"),
        url,
        expires_at: timestamp,
        reference: z.string().describe("Finds the record, which exists within a second of the test's end"),
      }),
      links,
    }),
  },
  problems: ["test_sign_on_direct"],
});
