import { expect, test } from "vitest";
import { createKeptText } from "./kept-text.ts";

test("the text is written once per object, and again when `besides` changes", () => {
  const textOf = createKeptText<{ name: string }>();
  let made = 0;
  const ask = (of: { name: string }, besides: string) =>
    textOf(of, besides, () => ({ ...of, besides, no: ++made }));
  const ada = { name: "Ada" };
  expect(ask(ada, "up")).toBe('{"name":"Ada","besides":"up","no":1}');
  expect(ask(ada, "up")).toBe('{"name":"Ada","besides":"up","no":1}');
  expect(ask(ada, "down")).toBe('{"name":"Ada","besides":"down","no":2}');
  expect(ask(ada, "up")).toBe('{"name":"Ada","besides":"up","no":3}');
  expect(ask({ name: "Ada" }, "up")).toBe('{"name":"Ada","besides":"up","no":4}');
});
