import { createHash } from "node:crypto";

/** Somebody who can sign in here. The subject says who it is; everything else is only said of them. */
export type Person = { sub: string; name: string; email?: string; emailVerified?: boolean };

/** One of the people that the sign-in page offers, and what to expect of signing in as them. */
export type ReadyMade = Person & { expect: string };

export const readyMadePeople: readonly ReadyMade[] = [
  {
    sub: "ada",
    name: "Ada",
    email: "ada@shop.example",
    emailVerified: true,
    expect: "All is well: she is signed in, the first time as a new customer.",
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
    expect: "Refused: the shop needs an address, and there is none to give.",
  },
  {
    sub: "dora",
    name: "Dora",
    email: "dora@shop.example",
    emailVerified: true,
    expect: "A customer has this address, and both sides have proven it: she is signed in as that customer.",
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
    expect: "At the console he is support: he sees everything, and can break nothing.",
  },
];

export type People = {
  find(sub: string): Person | undefined;
  /** Somebody with a name and an address that were typed in. */
  add(typed: { name: string; email: string; emailVerified: boolean }): Person;
};

export function createPeople(): People {
  const known = new Map<string, Person>(readyMadePeople.map((person) => [person.sub, person]));
  return {
    find: (sub) => known.get(sub),
    add({ name, email, emailVerified }) {
      // Typed again, it is the same person again: as anywhere, the address is the account, and without one the name.
      const account = email === "" ? `name ${name}` : `email ${email.toLowerCase()}`;
      const sub = `typed-${createHash("sha256").update(account).digest("hex").slice(0, 16)}`;
      const person = { sub, name: name || email || "Nobody", ...(email !== "" && { email, emailVerified }) };
      known.set(sub, person);
      return person;
    },
  };
}

/** What the ID token and UserInfo say, as far as the scopes allow. */
export const claimsOf = ({ sub, name, email, emailVerified }: Person, emailDropped: boolean): object => ({
  sub,
  name,
  ...(email !== undefined && !emailDropped && { email, email_verified: emailVerified === true }),
});
