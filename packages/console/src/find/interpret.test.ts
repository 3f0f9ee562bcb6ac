import { expect, test } from "vitest";
import { interpret, quoted } from "./interpret.ts";

test.each([
  ["7K3M-Q9TX", "7K3M-Q9TX"],
  ["7k3mq9tx", "7K3M-Q9TX"],
  [" 7k3m q9tx ", "7K3M-Q9TX"],
  ["7K3M.Q9TX", "7K3M-Q9TX"],
  ["OIL0-1234", "0110-1234"],
  ["Brendans", "BREN-DANS"],
  ["Williams", "W111-1AMS"],
  ["John Hill", "J0HN-H111"],
  ["10482217", "1048-2217"],
])(
  "%s can be the reference %s, however it was heard or written, and is a name or a number all the same",
  (typed, reference) => {
    expect(interpret(typed)).toEqual({ kind: "words", words: typed.trim(), reference });
  },
);

test.each([
  ["ada@shop.example", { kind: "email", email: "ada@shop.example" }],
  ["01A1E2EF-6f9c-77de-ba0a-0310a3647e28", { kind: "id", id: "01a1e2ef-6f9c-77de-ba0a-0310a3647e28" }],
  ["lkid_3kq9", { kind: "client_id", clientId: "lkid_3kq9" }],
  ["Ada Lovelace", { kind: "words", words: "Ada Lovelace" }],
  ["Ursulina", { kind: "words", words: "Ursulina" }],
  ["A-1", { kind: "words", words: "A-1" }],
  ["  ", undefined],
])("%s is interpreted by its form", (typed, meant) => {
  expect(interpret(typed)).toEqual(meant);
});

test("no text can end the filter's condition, or act as a pattern", () => {
  expect(quoted("a):eq(name,b)*")).toBe("a) :eq(name,b)");
});
