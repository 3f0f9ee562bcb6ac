import { expect, test } from "vitest";
import { HELP, helpAt } from "./help.ts";

test.each([
  ["/", HELP.home],
  ["/sign-in", HELP.signIn],
  ["/providers", HELP.providers],
  ["/providers/add", HELP.addProvider],
  ["/realms/r1/providers/p1", HELP.provider],
  ["/keys/k1", HELP.key],
  ["/sign-ons/s1/", HELP.signOn],
  ["/members/m1", HELP.notHere],
  ["/nothing", HELP.notHere],
])("the help of %s is that of its screen", (path, page) => {
  expect(helpAt(path)).toBe(page);
});
