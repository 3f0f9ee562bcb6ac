import { expect, test } from "vitest";
import { othersInWords } from "./administrators.ts";

const member = (id: string, role: "viewer" | "administrator", status: "active" | "invited" = "active") => ({
  id,
  role,
  meta: { status },
});

test("other administrators count if they have signed in", () => {
  const members = [
    member("mona", "administrator"),
    member("ada", "administrator"),
    member("ben", "administrator"),
    member("tilda", "administrator", "invited"),
    member("sam", "viewer"),
  ];
  expect(othersInWords(members, "mona")).toBe("2 other administrators have signed in.");
  expect(othersInWords(members.slice(0, 2), "mona")).toBe("1 other administrator has signed in.");
  expect(othersInWords(members.slice(3), "mona")).toBe("No other administrator has signed in.");
});
