import { createCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { listDeliveries } from "../../src/contract/deliveries.ts";
import { createIntegration, getIntegration } from "../../src/contract/integrations.ts";
import { type Caller, createTestApp, type TestApp, type TestStore } from "./app.ts";
import type { Answer } from "./call.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

/** A store, and a receiver of its webhooks, in one process, with a clock that the test sets. */
export type Hooks = {
  latchkey: TestApp;
  store: TestStore;
  receiver: Receiver;
  /** Creates an integration for all customer events, at the receiver, unless `data` differs. */
  integrate(data?: object): Promise<Answer["body"]["data"]>;
  customer(name?: string): Promise<string>;
  rename(customerId: string, name: string): Promise<void>;
  /** Numbers waiting drafts and sends due messages, until there are none. */
  deliver(): Promise<void>;
  /** Advances the clock, and delivers. */
  pass(ms: number): Promise<void>;
  see(id: string): Promise<Answer["body"]["data"]>;
  deliveries(id: string, query?: string): Promise<Answer["body"]["data"]>;
  close(): Promise<void>;
};

export async function openHooks(options: Parameters<typeof createTestApp>[0] = {}): Promise<Hooks> {
  const receiver = await startReceiver();
  const latchkey = await createTestApp({ allowedOrigins: [receiver.origin], ...options });
  const made = await latchkey.createStore(1_000_000);
  let customers = 0;
  let token = { is: "", untilMs: 0 };

  /** With a valid token, however much time has passed. */
  const call: Caller = async (operation, request = {}) => {
    if (latchkey.clock.monotonicMs() >= token.untilMs)
      token = { is: await made.token(), untilMs: latchkey.clock.monotonicMs() + 1_800_000 };
    return made.call(operation, { token: token.is, ...request });
  };
  const store = { ...made, call };

  const hooks: Hooks = {
    latchkey,
    store,
    receiver,
    async integrate(data = {}) {
      const integration = {
        type: "integration",
        name: "Newsletter",
        integration_type: "webhook",
        observes: ["customer.*"],
        configuration: { url: receiver.url },
        ...data,
      };
      return (await store.call(createIntegration, { json: { data: integration } })).body.data;
    },
    async customer(name = "Ada") {
      const email = `customer-${++customers}@shop.example`;
      const { body } = await store.call(createCustomer, {
        json: { data: { type: "customer", name, email } },
      });
      return body.data.id;
    },
    async rename(customerId, name) {
      const json = { data: { type: "customer", name } };
      await store.call(updateCustomer, { ids: { id: customerId }, json });
    },
    async deliver() {
      await latchkey.app.tidy();
      await latchkey.app.delivered();
    },
    async pass(ms) {
      latchkey.clock.advance(ms);
      await hooks.deliver();
    },
    see: async (id) => (await store.call(getIntegration, { ids: { id } })).body.data,
    deliveries: async (id, query = "") =>
      (await store.call(listDeliveries, { ids: { id }, query })).body.data,
    async close() {
      await latchkey.close();
      await receiver.close();
    },
  };
  return hooks;
}
