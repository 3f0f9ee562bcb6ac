import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseEmail } from "./email-address.ts";

describe("an address is written one way (N84)", () => {
  test.each([
    ["as it is", "ada@shop.example", "ada@shop.example"],
    ["with its case kept in front of the @", "Ada.Lovelace@Shop.EXAMPLE", "Ada.Lovelace@shop.example"],
    ["with U+FF20 as its only @", "ada\uff20shop.example", "ada@shop.example"],
    ["with its domain in full width", "ada@ｓｈｏｐ．ｅｘａｍｐｌｅ", "ada@shop.example"],
    ["with an accent in two characters", "re\u0301ne\u0301e@shop.example", "r\u00e9n\u00e9e@shop.example"],
    ["with an international domain", "ada@Bücher.example", "ada@xn--bcher-kva.example"],
    ["with an ideographic full stop", "ada@shop。example", "ada@shop.example"],
    ["with what people write before the @", "o'neil+a/b=c!#$%&*-_{|}~^`.@x.example", undefined],
    ["on this machine", "root@localhost", "root@localhost"],
    ["with digits in the domain", "a@1.2.x3", "a@1.2.x3"],
    ["with a part of 64 characters", `${"a".repeat(64)}@b.example`, undefined],
    ["with a label of 63 characters", `a@${"b".repeat(63)}.example`, undefined],
    ["with a last label of 63 characters", `a@b.${"c".repeat(63)}`, undefined],
    ["of 254 octets", `a@${`${"b".repeat(60)}.`.repeat(4)}${"c".repeat(8)}`, undefined],
  ])("%s", (_, text, shown = text) => {
    expect(parseEmail(text)).toEqual({ shown, key: shown.toLowerCase() });
  });

  test.each([
    ["upper case", "ADA@SHOP.EXAMPLE", "ada@shop.example"],
    ["both spellings of an international domain", "ada@bücher.example", "ADA@XN--BCHER-KVA.example"],
    ["composed and decomposed", "Rene\u0301@shop.example", "ren\u00e9@shop.example"],
  ])("and compares as the same: %s", (_, one, other) => {
    expect(parseEmail(one)?.key).toBe(parseEmail(other)?.key);
    expect(parseEmail(one)?.key).toBeDefined();
  });
});

describe("a text that is not plainly one address is refused (N84)", () => {
  test.each([
    ["nothing", ""],
    ["no @", "ada"],
    // Mailboxes of their own, which only look like another's once they are normalized.
    ["a mailbox in full width", "ａｄａ@shop.example"],
    ["a mailbox with a ligature", "oﬃce@shop.example"],
    ["a mailbox with a long s", "ſmith@shop.example"],
    ["two @", "ada@evil.example@shop.example"],
    ["a second @ in full width", "ada\uff20evil.example@shop.example"],
    ["a second @ that is small", "ada\ufe6bevil.example@shop.example"],
    ["nothing before the @", "@shop.example"],
    ["nothing after the @", "ada@"],
    ["a list with commas", "ada@shop.example,eve@evil.example"],
    ["a comma in full width", "ada，eve@shop.example"],
    ["a semicolon", "ada;eve@shop.example"],
    ["a colon", "group:ada@shop.example"],
    ["angle brackets", "<ada@shop.example>"],
    ["a name and angle brackets", "Ada <ada@shop.example>"],
    ["a comment", "ada(eve)@shop.example"],
    ["an address literal", "ada@[127.0.0.1]"],
    ["a quoted part", '"ada@evil.example"@shop.example'],
    ["a backslash", "ada\\@shop.example"],
    ["CR and LF", "ada@shop.example\r\nBcc: eve@evil.example"],
    ["LF at the end", "ada@shop.example\n"],
    ["NUL", "ada\0@shop.example"],
    ["DEL", "ada\x7f@shop.example"],
    ["a space", "ada @shop.example"],
    ["a space around it", " ada@shop.example"],
    ["a space that does not break", "ada\u00a0@shop.example"],
    ["a space without width", "ada\u200b@shop.example"],
    ["a mark of direction", "\u202eada@shop.example"],
    ["a byte order mark", "\ufeffada@shop.example"],
    ["a surrogate alone", "ada\ud800@shop.example"],
    ["10 KB", `${"a".repeat(10_240)}@shop.example`],
    ["a first part of 65 characters", `${"a".repeat(65)}@shop.example`],
    [
      "255 octets",
      `a@${"b".repeat(60)}.${"b".repeat(60)}.${"b".repeat(60)}.${"b".repeat(60)}.${"c".repeat(9)}`,
    ],
    ["255 octets in fewer characters", `${"é".repeat(64)}@${`${"b".repeat(39)}.`.repeat(3)}${"c".repeat(6)}`],
    ["a last label of 64 characters", `ada@shop.${"b".repeat(64)}`],
    ["a label of 64 characters", `ada@${"b".repeat(64)}.example`],
    ["an empty label", "ada@shop..example"],
    ["a dot in front", "ada@.example"],
    ["a dot at the end", "ada@shop.example."],
    ["a dot at the end, ideographic", "ada@shop.example。"],
    ["a hyphen in front", "ada@-shop.example"],
    ["a hyphen behind", "ada@shop-.example"],
    ["an underscore in the domain", "ada@my_shop.example"],
    ["a path behind the domain", "ada@shop.example/evil"],
    ["a query behind the domain", "ada@shop.example?evil"],
    ["a fragment behind the domain", "ada@shop.example#evil"],
    ["an escape in the domain", "ada@sho%70.example"],
    ["a path that NFKC writes out", "ada@shop.example℀evil"],
    ["an IP address", "ada@127.0.0.1"],
    ["an IP address in another spelling", "ada@0x7f.1"],
    ["a domain that begins with an accent", "ada@\u0301shop.example"],
  ])("%s", (_, text) => {
    expect(parseEmail(text)).toBeUndefined();
  });
});

/** Made of what is near an address, so that some are one. */
const near = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(..."abzÄéßİΣK.-+@019") },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          "\uff20",
          "\ufe6b",
          "。",
          "．",
          "℀",
          "ﬃ",
          "\u0301",
          "\u00ad",
          "xn--",
          "/",
          "%70",
        ),
      },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 2 }) },
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(""));
const texts = fc.oneof(
  near,
  fc.tuple(near, near).map((sides) => sides.join("@")),
  fc.emailAddress(),
);

test("a parsed address parses to itself", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const email = parseEmail(text);
      if (email) expect(parseEmail(email.shown)).toEqual(email);
    }),
    { numRuns: 3000 },
  );
});

test("a parsed address is only one: one @, no separator, an ASCII domain", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const email = parseEmail(text);
      if (!email) return;
      for (const form of [
        email.shown,
        email.key,
        email.shown.normalize("NFKC"),
        email.key.normalize("NFKC"),
      ]) {
        expect(form.split("@")).toHaveLength(2);
        expect(form).not.toMatch(/[\s,;:<>()[\]"\\]/);
        expect(form).toMatch(/@[a-z0-9.-]+$/);
      }
    }),
    { numRuns: 3000 },
  );
});
