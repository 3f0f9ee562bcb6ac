import { createHash } from "node:crypto";

/** A person who can sign in. `sub` identifies the person; the other members are claims. */
export type Person = { sub: string; name: string; email?: string; emailVerified?: boolean };

/** A person on the sign-in page, and the expected result of a sign-in as that person. */
export type ReadyMade = Person & { expect: string };

export const readyMadePeople: readonly ReadyMade[] = [
  {
    sub: "ada",
    name: "Ada",
    email: "ada@shop.example",
    emailVerified: true,
    expect: "Signed in, the first time as a new customer.",
  },
  {
    sub: "ben",
    name: "Ben",
    email: "ben@shop.example",
    emailVerified: false,
    expect: "Signed in as a new customer, but an unverified address never opens an existing account.",
  },
  {
    sub: "cleo",
    name: "Cleo",
    expect: "Refused: the shop needs an e-mail address, and Cleo has none.",
  },
  {
    sub: "dora",
    name: "Dora",
    email: "dora@shop.example",
    emailVerified: true,
    expect:
      "Signed in as an existing customer with this address, because the shop and the provider have verified it.",
  },
  {
    sub: "dora-twin",
    name: "Dora’s twin",
    email: "dora@shop.example",
    emailVerified: true,
    expect: "Another account with Dora’s address. One customer or two? The shop’s realm decides.",
  },
  {
    sub: "mona",
    name: "Mona",
    email: "mona@shop.example",
    emailVerified: true,
    expect: "At the console she is the store’s administrator. At the shop she is a customer like any other.",
  },
  {
    sub: "sam",
    name: "Sam",
    email: "sam@shop.example",
    emailVerified: true,
    expect: "At the console he has the role support: he sees everything, and can change little.",
  },
];

export type People = {
  find(sub: string): Person | undefined;
  /** Adds a person with the name and address from the form. */
  add(typed: { name: string; email: string; emailVerified: boolean }): Person;
};

export function createPeople(): People {
  const known = new Map<string, Person>(readyMadePeople.map((person) => [person.sub, person]));
  return {
    find: (sub) => known.get(sub),
    add({ name, email, emailVerified }) {
      // The same input is the same person: the address, or without an address the name, determines the subject.
      const account = email === "" ? `name ${name}` : `email ${email.toLowerCase()}`;
      const sub = `typed-${createHash("sha256").update(account).digest("hex").slice(0, 16)}`;
      const person = { sub, name: name || email || "Nobody", ...(email !== "" && { email, emailVerified }) };
      known.set(sub, person);
      return person;
    },
  };
}

/** The claims of ID token and UserInfo, before the library filters them by scope. */
export const claimsOf = ({ sub, name, email, emailVerified }: Person, emailDropped: boolean): object => ({
  sub,
  name,
  ...(email !== undefined && !emailDropped && { email, email_verified: emailVerified === true }),
});
