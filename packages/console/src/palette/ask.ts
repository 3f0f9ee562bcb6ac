import type { Admin, ApplicationKey, Customer, SignOn } from "@latchkey/sdk/admin";
import { interpret, quoted } from "../find/interpret.ts";
import { look } from "../find/look.ts";

/** The results of the service for a text. The browser itself finds screens, keys and providers by name. */
export type Answer = {
  customers: Customer[];
  signOns: SignOn[];
  keys: ApplicationKey[];
  /** The number of events with this id. */
  events: number;
  /** The path of the only thing that the text names exactly: a reference, an id, a client id or an e-mail. */
  exact?: string;
};

const NOTHING: Answer = { customers: [], signOns: [], keys: [], events: 0 };
const MOST = 6;

/** Shorter texts begin too many names. */
const LEAST_CHARACTERS = 2;
/** An address that is typed as far as the end of its domain. */
const IS_WHOLE = /@[^@]+\.[^@.]+$/;

/**
 * Searches customers by the beginning of name or e-mail, which an index finds in a store of any size. References,
 * ids and whole e-mails are searched as "Look up" does.
 */
export async function ask(admin: Admin, text: string): Promise<Answer> {
  const meant = interpret(text);
  if (!meant || text.length < LEAST_CHARACTERS) return NOTHING;
  switch (meant.kind) {
    case "id":
    case "client_id": {
      const { events, ...found } = await look(admin, meant);
      const answer = { ...found, events: events.length };
      return withExact(answer, onlyPath(answer, text));
    }
    case "email": {
      const isWhole = IS_WHOLE.test(meant.email);
      const [begun, whole] = await Promise.all([
        customersBy(admin, "email", meant.email),
        isWhole ? look(admin, meant) : NOTHING,
      ]);
      const customers = distinct([...whole.customers, ...begun]).slice(0, MOST);
      const answer = { ...NOTHING, customers, signOns: whole.signOns.slice(0, MOST) };
      return withExact(answer, onlyPath({ ...answer, customers: whole.customers }, text));
    }
    case "words": {
      const { words, reference } = meant;
      const [named, addressed, signOns] = await Promise.all([
        customersBy(admin, "name", words),
        /\s/.test(words) ? [] : customersBy(admin, "email", words),
        reference ? signOnsBy(admin, reference) : [],
      ]);
      const customers = distinct([...named, ...addressed]).slice(0, MOST);
      const [signOn] = signOns;
      return withExact({ ...NOTHING, customers, signOns }, signOn && `/sign-ons/${signOn.id}`);
    }
  }
}

const withExact = (answer: Answer, exact: string | undefined): Answer =>
  exact === undefined ? answer : { ...answer, exact };

/**
 * Customers and keys come before the sign-ons and events that they have. Several of a kind are shown to choose
 * from.
 */
function onlyPath({ customers, keys, signOns, events }: Answer, text: string): string | undefined {
  const [things, path] =
    keys.length > 0
      ? [keys, "/keys"]
      : customers.length > 0
        ? [customers, "/customers"]
        : [signOns, "/sign-ons"];
  const [only] = things;
  if (only) return things.length === 1 ? `${path}/${only.id}` : undefined;
  return events > 0 ? lookUpPath(text) : undefined;
}

export const lookUpPath = (text: string): string => `/find?${new URLSearchParams({ q: text })}`;

async function customersBy(admin: Admin, field: "name" | "email", text: string): Promise<Customer[]> {
  const begun = quoted(text);
  if (begun === "") return [];
  return (await admin.customers.list({ filter: `like(${field},${begun}*)`, limit: MOST })).data;
}

const signOnsBy = async (admin: Admin, reference: string): Promise<SignOn[]> =>
  (await admin.signOns.list({ filter: `eq(reference,${reference})`, limit: MOST })).data;

const distinct = <T extends { id: string }>(items: readonly T[]): T[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
];
