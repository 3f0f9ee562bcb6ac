import {
  type Admin,
  ApiError,
  type ApplicationKey,
  type Customer,
  type Event,
  type SignOn,
} from "@latchkey/sdk/admin";
import { readBefore } from "../events/read-before.ts";
import { listCustomers, named } from "./customers-named.ts";
import { type Meant, quoted } from "./interpret.ts";

type Found = {
  signOns: SignOn[];
  customers: Customer[];
  keys: ApplicationKey[];
  events: Event[];
};

const NOTHING: Found = { signOns: [], customers: [], keys: [], events: [] };
const MOST = 20;

export async function look(admin: Admin, meant: Meant): Promise<Found> {
  switch (meant.kind) {
    case "email":
      return byEmail(admin, quoted(meant.email));
    case "id":
      return byId(admin, meant.id);
    case "client_id":
      return { ...NOTHING, keys: await keysBy(admin, `eq(client_id,${meant.clientId})`) };
    case "words": {
      const words = quoted(meant.words);
      if (words === "") return NOTHING;
      const [byName, byRef, signOns] = await Promise.all([
        listCustomers(admin, { filter: named(words), limit: MOST }),
        admin.customers.list({ filter: `eq(external_ref,${words})`, limit: MOST }),
        meant.reference ? signOnsBy(admin, `eq(reference,${meant.reference})`) : [],
      ]);
      return { ...NOTHING, customers: distinct([...byRef.data, ...byName.data]), signOns };
    }
  }
}

/**
 * Searches sign-on records by the digest of the address, which also finds people who never became customers.
 */
async function byEmail(admin: Admin, email: string): Promise<Found> {
  const [customers, signOns] = await Promise.all([
    admin.customers.list({ filter: `eq(email,${email})`, limit: MOST }),
    signOnsBy(admin, `eq(email,${email})`),
  ]);
  const theirs = await signOnsOf(admin, customers.data);
  return { ...NOTHING, customers: customers.data, signOns: distinct([...signOns, ...theirs]) };
}

/** An id does not show its type of resource, so the function requests every type. */
async function byId(admin: Admin, id: string): Promise<Found> {
  const [signOn, customer, key, failedIn, changedIn, happenedTo] = await Promise.all([
    orNone(admin.signOns.get(id)),
    orNone(admin.customers.get(id)),
    orNone(admin.applicationKeys.get(id)),
    signOnsBy(admin, `eq(request_id,${id})`),
    admin.events.list({ filter: `eq(request_id,${id})`, limit: MOST }),
    eventsOf(admin, id),
  ]);
  const customers = customer ? [customer.data] : [];
  const signOns = signOn ? [signOn.data] : [...failedIn, ...(await signOnsOf(admin, customers))];
  // The screen of a sign-on shows its events.
  const events = [...changedIn.data, ...(signOn ? [] : happenedTo)];
  return { signOns: distinct(signOns), customers, keys: key ? [key.data] : [], events: distinct(events) };
}

const keysBy = async (admin: Admin, filter: string): Promise<ApplicationKey[]> =>
  (await admin.applicationKeys.list({ filter, limit: MOST })).data;

/** The events of a subject, newest first. For most subjects one page contains them all. */
async function eventsOf(admin: Admin, subject: string): Promise<Event[]> {
  const wanted = { filter: `eq(subject,${subject})` };
  const { data, next } = await admin.events.list({ ...wanted, limit: 100 });
  const events = next ? (await readBefore(admin, wanted, undefined, MOST)).events : data.reverse();
  return events.slice(0, MOST);
}

const signOnsBy = async (admin: Admin, filter: string): Promise<SignOn[]> =>
  (await admin.signOns.list({ filter, limit: MOST })).data;

async function signOnsOf(admin: Admin, customers: readonly Customer[]): Promise<SignOn[]> {
  const lists = await Promise.all(
    customers.slice(0, 3).map(({ id }) => signOnsBy(admin, `eq(customer_id,${id})`)),
  );
  return lists.flat();
}

const distinct = <T extends { id: string }>(items: readonly T[]): T[] => [
  ...new Map(items.map((item) => [item.id, item])).values(),
];

const orNone = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
