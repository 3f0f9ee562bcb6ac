import { expect, test } from "vitest";
import { isMatch, matching } from "./matches.ts";

test.each([
  ["ware", "Warehouse"],
  ["WARE", "Warehouse"],
  ["leeds", "Till in Leeds"],
  ["leeds till", "Till in Leeds"],
  ["elo", "Élodie"],
  ["add prov", "Add a provider"],
  ["back-office", "Back Office"],
  ["东京", "东京 store"],
])("%s finds %s: each typed word begins a word of the name", (typed, name) => {
  expect(isMatch(typed, name)).toBe(true);
});

test.each([
  ["house", "Warehouse"],
  ["till york", "Till in Leeds"],
  ["", "Warehouse"],
  ["-", "Warehouse"],
])("%s does not find %s", (typed, name) => {
  expect(isMatch(typed, name)).toBe(false);
});

test("names that begin with the text come first; the others keep their order", () => {
  const names = ["Old till", "New till", "Till in Leeds", "Warehouse"];
  expect(matching(names, "till", (name) => name)).toEqual(["Till in Leeds", "Old till", "New till"]);
});

test("further words find an item, and its name decides the order", () => {
  const screens = [
    { name: "Integrations", also: "events webhooks" },
    { name: "Events", also: "log" },
  ];
  const found = matching(
    screens,
    "events",
    ({ name }) => name,
    ({ name, also }) => `${name} ${also}`,
  );
  expect(found.map(({ name }) => name)).toEqual(["Events", "Integrations"]);
});
