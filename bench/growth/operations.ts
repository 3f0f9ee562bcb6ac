import type { Samples } from "../seeding/seed.ts";
import { authorize, callback } from "../workloads/parts.ts";
import { readOwnCustomer, readProviders, readSettings } from "../workloads/reads.ts";
import { comeBack, goToIdp, newPerson, redeem } from "../workloads/steps.ts";
import {
  bearer,
  type Drive,
  drive,
  expectAnswer,
  type Target,
  type Workload,
} from "../workloads/workload.ts";
import { accessToken, putKey } from "../workloads/writes.ts";

/** Every operation that reads or writes a table that grows. The names are the rows of the growth table. */

type Turn = { samples: Samples; index: number };
type Request = { path: string; method?: string; data?: object; status?: number; orRefused?: number };

const pick = <T>(from: readonly T[], index: number): T => from[index % from.length] as T;
const common = { others: [], concurrency: 4 } as const;

/** Sends requests with the back office's token. Each request is about the next of the samples. */
function sending(name: string, requestOf: (turn: Turn) => Request): Workload {
  const driveOf = ({ url, accessToken, samples }: Target): Drive => {
    let index = 0;
    return drive({
      async operate(client) {
        const turn = { samples: samples as Samples, index: index++ };
        const { path, method = "GET", data, status = 200, orRefused } = requestOf(turn);
        const headers = { ...bearer(accessToken), ...(data && { "Content-Type": "application/json" }) };
        const body = data && { body: JSON.stringify({ data }) };
        const answer = await client.send({ url: url + path, method, headers, ...body });
        expectAnswer(answer, answer.status === orRefused ? orRefused : status);
      },
    });
  };
  return { ...common, name, means: name, drive: driveOf };
}

/** Follows `links.next` from the first page to the last, then starts again. */
function walking(name: string, from: string): Workload {
  const driveOf = ({ url, accessToken }: Target): Drive => {
    let path = from;
    return drive({
      async operate(client) {
        const answer = await client.send({ url: url + path, headers: bearer(accessToken) });
        const { next } = JSON.parse(expectAnswer(answer, 200).body).links;
        path = next === null ? from : next.slice(next.indexOf("/v2/"));
      },
    });
  };
  return { ...common, name, means: name, drive: driveOf };
}

const filter = (path: string, text: string): Request => ({
  path: `${path}?filter=${encodeURIComponent(text)}`,
});
/**
 * The limit is the number of customers with one name among a thousand, so both services answer with the same number of
 * rows.
 */
const firstFive = (path: string, text: string): Request => ({
  path: `${filter(path, text).path}&page[limit]=5`,
});
const customer = ({ samples, index }: Turn) => pick(samples.customers, index);
const signOn = ({ samples, index }: Turn) => pick(samples.signOns, index);
const key = ({ samples, index }: Turn) => pick(samples.keys, index);
const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString();
const newEmail = () => `${newPerson()}@new.example`;

const customers: Workload[] = [
  sending("list customers", () => ({ path: "/v2/customers" })),
  sending("list customers, page at 900", () => ({ path: "/v2/customers?page[offset]=900" })),
  walking("list customers, page by page", "/v2/customers"),
  walking("list customers, page by page by name", "/v2/customers?sort=name"),
  sending("list customers, newest first", () => ({ path: "/v2/customers?sort=-created_at" })),
  sending("list customers, by update", () => ({ path: "/v2/customers?sort=-updated_at" })),
  sending("list customers, by name", () => ({ path: "/v2/customers?sort=name" })),
  sending("list customers, by e-mail", () => ({ path: "/v2/customers?sort=email" })),
  sending("find customer by e-mail", (turn) => filter("/v2/customers", `eq(email,${customer(turn).email})`)),
  sending("find customers, e-mail begins", (turn) =>
    firstFive("/v2/customers", `like(email,${customer(turn).email.slice(0, 12)}*)`),
  ),
  // The service scans rows up to a maximum here. With many rows it refuses the request (422).
  sending("find customers, e-mail has", () => filter("/v2/customers", "like(email,*turing*@mail*)")),
  sending("find customers, e-mail has something rare", (turn) => ({
    ...filter("/v2/customers", `like(email,*.${turn.index}@*)`),
    orRefused: 422,
  })),
  sending("find customers by name, by e-mail", (turn) => ({
    path: `${firstFive("/v2/customers", `eq(name,${customer(turn).name})`).path}&sort=email`,
  })),
  sending("find customers by name", (turn) => firstFive("/v2/customers", `eq(name,${customer(turn).name})`)),
  sending("find customers, name begins", (turn) =>
    firstFive("/v2/customers", `like(name,${customer(turn).name.slice(0, 5)}*)`),
  ),
  sending("find customer by reference", (turn) =>
    filter("/v2/customers", `eq(external_ref,crm-${turn.index * 3})`),
  ),
  sending("find customers since", () => filter("/v2/customers", `gt(created_at,${monthAgo})`)),
  sending("read customer", (turn) => ({ path: `/v2/customers/${customer(turn).id}` })),
  sending("PUT customer", (turn) => ({
    path: `/v2/customers/${customer(turn).id}`,
    method: "PUT",
    data: { type: "customer", name: `Renamed ${turn.index}` },
  })),
  sending("create customer", () => ({
    path: "/v2/customers",
    method: "POST",
    data: { type: "customer", name: "New", email: newEmail() },
    status: 201,
  })),
  sending("list customer tokens", (turn) => ({ path: `/v2/customers/${customer(turn).id}/tokens` })),
  sending("revoke customer tokens", (turn) => ({
    path: `/v2/customers/${customer(turn).id}/tokens`,
    method: "DELETE",
    status: 204,
  })),
];

const signOns: Workload[] = [
  sending("list sign-ons", () => ({ path: "/v2/sign-ons" })),
  sending("list sign-ons, oldest first", () => ({ path: "/v2/sign-ons?sort=started_at" })),
  sending("find sign-on by reference", (turn) =>
    filter("/v2/sign-ons", `eq(reference,${signOn(turn).reference})`),
  ),
  sending("find sign-ons of customer", (turn) =>
    filter("/v2/sign-ons", `eq(customer_id,${customer(turn).id})`),
  ),
  sending("find failed sign-ons", () => filter("/v2/sign-ons", "eq(outcome,failed)")),
  sending("find sign-ons by reason", () => filter("/v2/sign-ons", "eq(reason,id_token.nonce)")),
  sending("read sign-on", (turn) => ({ path: `/v2/sign-ons/${signOn(turn).id}` })),
];

const keys: Workload[] = [
  sending("list keys", () => ({ path: "/v2/application-keys" })),
  sending("read key of many", (turn) => ({ path: `/v2/application-keys/${key(turn)}` })),
  { ...putKey, ...common, name: "PUT key of many" },
  sending("create key", ({ index }) => ({
    path: "/v2/application-keys",
    method: "POST",
    data: { type: "application_key", name: `New ${index}` },
    status: 201,
  })),
  sending("dry run", (turn) => ({
    path: `/v2/application-keys/${key(turn)}/dry-run`,
    method: "POST",
    data: { type: "application_key", name: "Tried", reserved_rate_limit: 10 },
  })),
  sending("read store", () => ({ path: "/v2/store" })),
  { ...accessToken, ...common, name: "access token among many" },
];

/** A sign-on of a seeded customer. */
const signOnAmongMany: Workload = {
  ...common,
  name: "sign-on, known among many",
  means: "callback and redeem of a seeded customer",
  count: 60,
  drive(target) {
    let index = 0;
    return drive({
      stock: (client) => goToIdp(client, target, pick((target.samples as Samples).people, index++)),
      operate: async (client, returned) => redeem(client, target, await comeBack(client, returned)),
    });
  },
};

/** Without waiting for late writes, which both services make alike. */
const { isRecorded: _, ...callbackOnly } = callback;

const federation: Workload[] = [
  { ...readSettings, ...common, name: "read settings among many" },
  { ...readProviders, ...common, name: "read providers among many" },
  { ...readOwnCustomer, ...common, name: "read own customer among many" },
  { ...authorize, ...common, name: "authorize among many" },
  { ...callbackOnly, ...common, name: "callback among many", count: 60 },
  {
    ...signOnAmongMany,
    name: "sign-on, new among many",
    means: "callback and redeem of a new shopper",
    drive: (target) =>
      drive({
        stock: (client) => goToIdp(client, target, newPerson()),
        operate: async (client, returned) => redeem(client, target, await comeBack(client, returned)),
      }),
  },
  signOnAmongMany,
];

export const growthWorkloads: readonly Workload[] = [...customers, ...signOns, ...keys, ...federation];
