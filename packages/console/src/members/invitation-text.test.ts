import { expect, test } from "vitest";
import { addressOf, invitationOf, mailTo } from "./invitation-text.ts";

const ID = "019a0000-0000-7000-8000-000000000001";
const given = {
  member: { name: "Priya Raman", email: "priya@shop.example", role: "support" as const },
  store: { id: ID, name: "Alder & Pine" },
  by: "Mona",
  providers: ["Keycloak"],
  origin: "https://keys.example",
};

test("an invitation says who invites, to which store, in which role, and how to sign in", () => {
  expect(invitationOf(given)).toEqual({
    subject: "Your access to Alder & Pine",
    text: `Hello Priya Raman,

Mona has given you access to the console of Alder & Pine, in the role support. You can read everything except secrets, end customers’ sessions, check providers, make test sign-ons, and send deliveries again.

How to sign in:
1. Open https://keys.example/console/sign-in?store=${ID}
2. Press “Sign in as a member”.
3. Sign in at Keycloak with the account that has the e-mail address priya@shop.example. You need no new password.

Later, https://keys.example/console/ is enough: your browser remembers the store.
`,
  });
});

test("an invitation by a key names no person; a member without a name is greeted without one", () => {
  const { text } = invitationOf({
    ...given,
    by: undefined,
    member: { ...given.member, name: given.member.email },
    providers: ["Keycloak", "Okta"],
  });
  expect(text).toMatch(/^Hello,\n\nYou have been given access/);
  expect(text).toContain("Sign in at Keycloak or Okta with");
});

test("the address names the store and no realm", () => {
  expect(addressOf(ID, "https://keys.example")).toBe(`https://keys.example/console/sign-in?store=${ID}`);
});

test("a mail link keeps every character of the text, with the line ends of mail", () => {
  const link = mailTo("a+b&c@shop.example", { subject: "A & B?", text: "one\n50 % #2\n" });
  expect(link).toBe(
    "mailto:a%2Bb%26c@shop.example?subject=A%20%26%20B%3F&body=one%0D%0A50%20%25%20%232%0D%0A",
  );
});
