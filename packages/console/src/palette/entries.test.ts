import { expect, test } from "vitest";
import { MENU } from "../frame/menu.ts";
import { isScreen } from "../screens.ts";
import { countInWords, screensNamed } from "./entries.ts";

test("every entry of the menu is a screen", () => {
  const paths = MENU.flatMap(({ screens }) => screens.map(({ to }) => to));
  expect(paths.filter((path) => !isScreen(path))).toEqual([]);
  expect(new Set(paths).size).toBe(paths.length);
});

test("while nothing is typed, the screens of the menu are listed", () => {
  const names = screensNamed("administrator", "").map(({ name }) => name);
  expect(names).toContain("Home");
  expect(names).not.toContain("Add a provider");
});

test.each([
  ["administrator", ["Providers", "Add a provider"]],
  ["support", ["Providers"]],
  ["viewer", ["Providers"]],
] as const)("a screen that the role %s may not use is not found", (role, names) => {
  expect(screensNamed(role, "prov").map(({ name }) => name)).toEqual(names);
});

test.each([
  ["webhooks", "Integrations"],
  ["audit", "Events"],
  ["redirect", "Settings"],
  ["find", "Look up"],
])("the word %s finds the screen %s", (typed, name) => {
  expect(screensNamed("viewer", typed)[0]?.name).toBe(name);
});

test("a screen reader gets the number of results in each group", () => {
  const [home, keys] = [
    { to: "/", name: "Home" },
    { to: "/keys", name: "Keys" },
  ];
  expect(countInWords([{ label: "Screens", entries: [home, keys] }])).toBe("2 results. Screens 2");
  expect(
    countInWords([
      { label: "Screens", entries: [home] },
      { label: "Keys", entries: [keys] },
    ]),
  ).toBe("2 results. Screens 1, Keys 1");
  expect(countInWords([{ label: "Screens", entries: [home] }])).toBe("1 result. Screens 1");
});
