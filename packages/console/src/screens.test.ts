import { expect, test } from "vitest";
import { isScreen, SCREENS } from "./screens.ts";

test("every screen exists, with and without a slash at the end", () => {
  for (const screen of Object.values(SCREENS)) {
    const path = screen.replaceAll(/:\w+/g, "019a0000-0000-7000-8000-000000000000");
    expect([path, isScreen(path), isScreen(`${path.replace(/\/$/, "")}/`)]).toEqual([path, true, true]);
  }
});

test.each(["/nothing", "/planner/more", "/keys/a b", "/keys/%20", "/realms/1", "//", "/sign-in/x"])(
  "%j is no screen",
  (path) => {
    expect(isScreen(path)).toBe(false);
  },
);
