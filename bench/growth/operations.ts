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

/** Every operation that reads or writes what grows. Names are the rows of the growth table. */

type Turn = { samples: Samples; index: number };
type Request = { path: string; method?: string; data?: object; status?: number; orRefused?: number };

const pick = <T>(from: readonly T[], index: number): T => from[index % from.length] as T;
const common = { others: [], concurrency: 4 } as const;

/** Asks with the back office's token, each time about another of the samples. */
function asking(name: string, requestOf: (turn: Turn) => Request): Workload {
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

/** Follows `links.next` from the first page on, round and round. */
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
/** As many rows as there are of each name among a thousand, so that both sides answer with the same number. */
const filterFew = (path: string, text: string): Request => ({
  path: `${filter(path, text).path}&page[limit]=5`,
});
const customer = ({ samples, index }: Turn) => pick(samples.customers, index);
const signOn = ({ samples, index }: Turn) => pick(samples.signOns, index);
const key = ({ samples, index }: Turn) => pick(samples.keys, index);
const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString();
const newEmail = () => `${newPerson()}@new.example`;

const customers: Workload[] = [
  asking("list customers", () => ({ path: "/v2/customers" })),
  asking("list customers, page at 900", () => ({ path: "/v2/customers?page[offset]=900" })),
  walking("list customers, page by page", "/v2/customers"),
  walking("list customers, page by page by name", "/v2/customers?sort=name"),
  asking("list customers, newest first", () => ({ path: "/v2/customers?sort=-created_at" })),
  asking("list customers, by update", () => ({ path: "/v2/customers?sort=-updated_at" })),
  asking("list customers, by name", () => ({ path: "/v2/customers?sort=name" })),
  asking("list customers, by e-mail", () => ({ path: "/v2/customers?sort=email" })),
  asking("find customer by e-mail", (turn) => filter("/v2/customers", `eq(email,${customer(turn).email})`)),
  asking("find customers, e-mail begins", (turn) =>
    filterFew("/v2/customers", `like(email,${customer(turn).email.slice(0, 12)}*)`),
  ),
  // Rows are looked at one by one here, up to a bound: with many rows it is refused where it would have to look further.
  asking("find customers, e-mail has", () => filter("/v2/customers", "like(email,*turing*@mail*)")),
  asking("find customers, e-mail has something rare", (turn) => ({
    ...filter("/v2/customers", `like(email,*.${turn.index}@*)`),
    orRefused: 422,
  })),
  asking("find customers by name, by e-mail", (turn) => ({
    path: `${filterFew("/v2/customers", `eq(name,${customer(turn).name})`).path}&sort=email`,
  })),
  asking("find customers by name", (turn) => filterFew("/v2/customers", `eq(name,${customer(turn).name})`)),
  asking("find customers, name begins", (turn) =>
    filterFew("/v2/customers", `like(name,${customer(turn).name.slice(0, 5)}*)`),
  ),
  asking("find customer by reference", (turn) =>
    filter("/v2/customers", `eq(external_ref,crm-${turn.index * 3})`),
  ),
  asking("find customers since", () => filter("/v2/customers", `gt(created_at,${monthAgo})`)),
  asking("read customer", (turn) => ({ path: `/v2/customers/${customer(turn).id}` })),
  asking("PUT customer", (turn) => ({
    path: `/v2/customers/${customer(turn).id}`,
    method: "PUT",
    data: { type: "customer", name: `Renamed ${turn.index}` },
  })),
  asking("create customer", () => ({
    path: "/v2/customers",
    method: "POST",
    data: { type: "customer", name: "New", email: newEmail() },
    status: 201,
  })),
  asking("list customer tokens", (turn) => ({ path: `/v2/customers/${customer(turn).id}/tokens` })),
  asking("revoke customer tokens", (turn) => ({
    path: `/v2/customers/${customer(turn).id}/tokens`,
    method: "DELETE",
    status: 204,
  })),
];

const signOns: Workload[] = [
  asking("list sign-ons", () => ({ path: "/v2/sign-ons" })),
  asking("list sign-ons, oldest first", () => ({ path: "/v2/sign-ons?sort=started_at" })),
  asking("find sign-on by reference", (turn) =>
    filter("/v2/sign-ons", `eq(reference,${signOn(turn).reference})`),
  ),
  asking("find sign-ons of customer", (turn) =>
    filter("/v2/sign-ons", `eq(customer_id,${customer(turn).id})`),
  ),
  asking("find failed sign-ons", () => filter("/v2/sign-ons", "eq(outcome,failed)")),
  asking("find sign-ons by reason", () => filter("/v2/sign-ons", "eq(reason,id_token.nonce)")),
  asking("read sign-on", (turn) => ({ path: `/v2/sign-ons/${signOn(turn).id}` })),
];

const keys: Workload[] = [
  asking("list keys", () => ({ path: "/v2/application-keys" })),
  asking("read key of many", (turn) => ({ path: `/v2/application-keys/${key(turn)}` })),
  { ...putKey, ...common, name: "PUT key of many" },
  asking("create key", ({ index }) => ({
    path: "/v2/application-keys",
    method: "POST",
    data: { type: "application_key", name: `New ${index}` },
    status: 201,
  })),
  asking("dry run", (turn) => ({
    path: `/v2/application-keys/${key(turn)}/dry-run`,
    method: "POST",
    data: { type: "application_key", name: "Tried", reserved_rate_limit: 10 },
  })),
  asking("read store", () => ({ path: "/v2/store" })),
  { ...accessToken, ...common, name: "access token among many" },
];

/** A sign-on whose customer is one of the many. */
const signOnAmongMany: Workload = {
  ...common,
  name: "sign-on, known among many",
  means: "a whole sign-on of a customer who was seeded",
  count: 60,
  drive(target) {
    let index = 0;
    return drive({
      stock: (client) => goToIdp(client, target, pick((target.samples as Samples).people, index++)),
      operate: async (client, returned) => redeem(client, target, await comeBack(client, returned)),
    });
  },
};

/** Both sides write their records when they write them. */
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
    means: "callback and redeem of somebody new",
    drive: (target) =>
      drive({
        stock: (client) => goToIdp(client, target, newPerson()),
        operate: async (client, returned) => redeem(client, target, await comeBack(client, returned)),
      }),
  },
  signOnAmongMany,
];

export const growthWorkloads: readonly Workload[] = [...customers, ...signOns, ...keys, ...federation];
