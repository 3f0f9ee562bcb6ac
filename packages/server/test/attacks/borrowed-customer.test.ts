import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApplicationKey, updateApplicationKey } from "../../src/contract/application-keys.ts";
import {
  issueCustomerToken,
  listCustomerTokens,
  revokeCustomerToken,
  revokeCustomerTokens,
} from "../../src/contract/customer-tokens.ts";
import {
  createCustomer,
  deleteCustomer,
  eraseCustomer,
  getCustomer,
  updateCustomer,
} from "../../src/contract/customers.ts";
import { listEvents } from "../../src/contract/events.ts";
import { checkAtGateway } from "../../src/contract/gateway.ts";
import { createIntegration } from "../../src/contract/integrations.ts";
import { createMember } from "../../src/contract/members.ts";
import { updateProfile } from "../../src/contract/oidc-profiles.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { operations } from "../../src/contract/operations.ts";
import { createRealm, updateAuthenticationSettings } from "../../src/contract/realms.ts";
import { updateStore } from "../../src/contract/store.ts";
import { getToken } from "../support/app.ts";
import { type Call, call } from "../support/call.ts";
import { type Engine, engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { createMembersSide, type MembersSide } from "../support/members.ts";

/** The attack: the back office adds a shopper's token to its own, and the log has the shopper as actor (wire 25). */

const NAMES = ["x-customer-token", "x-moltin-customer-token"] as const;
const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const behindBearer = operations
  .filter(({ role }) => role !== undefined)
  .map((operation) => [operation.id, operation] as const);

describe.each(engines.map((engine) => [engine.name, engine] as const))(
  "a back-office token with a shopper's token beside it, on %s",
  (_, engine: Engine) => {
    let database: TestDatabase;
    let f: Federation;
    let side: MembersSide;
    let people = 0;
    /** A shopper whose data no test changes. */
    let onlooker: Shopper;
    const tokens: Record<"program" | "member" | "viewer", string> = { program: "", member: "", viewer: "" };

    beforeAll(async () => {
      if (!engine.isHere) return;
      database = await engine.create();
      f = await createFederation({ databaseUrl: database.url });
      side = await createMembersSide(f);
      onlooker = await shopper();
      tokens.program = await f.store.token();
      tokens.member = await side.token("admin@shop.example", "administrator");
      const json = { data: { type: "application_key", name: "Reader", role: "viewer" } };
      const { client_id: clientId, client_secret: clientSecret } = (
        await f.store.call(createApplicationKey, { json })
      ).body.data;
      const key = { ...f.store.key, clientId, clientSecret };
      tokens.viewer = await getToken(f.latchkey.app, { ...f.store, key }, "client_credentials");
    });
    beforeEach(({ skip }) => {
      if (!engine.isHere) skip("this engine is not installed");
      f.latchkey.clock.advance(2000);
    });
    afterAll(async () => {
      await f?.close();
      await database?.drop();
    });

    type Shopper = { id: string; token: string; credentials: { email: string; password: string } };

    /** Makes a customer, and signs the customer in. */
    async function shopper(): Promise<Shopper> {
      const credentials = { email: `shopper-${++people}@shop.example`, password: "correct horse" };
      const json = { data: { type: "customer", name: "Ada", ...credentials } };
      const { id } = (await f.store.call(createCustomer, { json })).body.data;
      const { body } = await call(f.latchkey.app, issueCustomerToken, {
        token: f.implicit,
        json: { data: { type: "token", ...credentials } },
      });
      return { id, token: body.data.token, credentials };
    }

    const ask = (token: string, operation: Operation, customerToken: string, request: Call = {}) =>
      call(f.latchkey.app, operation, {
        token,
        ...request,
        headers: { [NAMES[++people % 2] as string]: customerToken, ...request.headers },
      });

    /** The actors of the events that the work noted. */
    async function actorsOf(work: () => Promise<unknown>): Promise<{ type: string }[]> {
      await f.latchkey.app.tidy();
      const { body: before } = await f.store.call(listEvents, { query: "page[limit]=1" });
      await work();
      await f.latchkey.app.tidy();
      const query = `after=${before.meta.last_sequence}&page[limit]=100`;
      const { body } = await f.store.call(listEvents, { query });
      return body.data.map(({ data }: { data: { actor: object } }) => data.actor);
    }

    const named = () => `Name ${++people}`;
    const json = (type: string, data: object): Call => ({ json: { data: { type, ...data } } });

    /** A good request for each operation that notes an event with an actor. */
    const changes: [Operation, (whose: Shopper) => Call][] = [
      [createCustomer, () => json("customer", { name: "Eve", email: `eve-${++people}@shop.example` })],
      [
        updateCustomer,
        ({ id }) => ({ ids: { id }, ...json("customer", { name: named(), password: "new password" }) }),
      ],
      [deleteCustomer, ({ id }) => ({ ids: { id } })],
      [eraseCustomer, ({ id }) => ({ ids: { id } })],
      [issueCustomerToken, ({ credentials }) => json("token", credentials)],
      [revokeCustomerTokens, ({ id }) => ({ ids: { customer: id } })],
      [createApplicationKey, () => json("application_key", { name: named() })],
      [
        updateApplicationKey,
        () => ({ ids: { id: f.store.key.id }, ...json("application_key", { name: named() }) }),
      ],
      [createMember, () => json("member", { email: `m-${++people}@shop.example`, role: "viewer" })],
      [
        createIntegration,
        () =>
          json("integration", {
            name: named(),
            integration_type: "webhook",
            observes: ["store.*"],
            enabled: false,
            configuration: { url: "https://hooks.example/in" },
          }),
      ],
      [createRealm, () => json("authentication-realm", { name: named() })],
      [
        updateAuthenticationSettings,
        () => json("customer-authentication-settings", { client_id: `client-${++people}` }),
      ],
      [
        updateProfile,
        () => ({ ids: { realm: f.realmId, id: f.profileId }, ...json("oidc-profile", { name: named() }) }),
      ],
      [updateStore, () => json("store", { rate_limit: 90_000 - ++people })],
    ];

    test.each(changes.map(([operation, requestFor]) => [operation.id, operation, requestFor] as const))(
      "the event of %s has the program or the member as actor",
      async (_, operation, requestFor) => {
        for (const [token, type] of [
          [tokens.program, "application_key"],
          [tokens.member, "member"],
        ] as const) {
          const own = await shopper();
          const actors = await actorsOf(async () => {
            const answer = await ask(token, operation, own.token, requestFor(own));
            expect(answer.status).toBe(operation.success.status);
          });
          expect(actors.length).toBeGreaterThan(0);
          expect(new Set(actors.map((actor) => actor.type))).toEqual(new Set([type]));
        }
      },
    );

    test("the event of revokeCustomerToken has it, too; the token list marks no token as current", async () => {
      for (const [token, type] of [
        [tokens.program, "application_key"],
        [tokens.member, "member"],
      ] as const) {
        const own = await shopper();
        const { body } = await ask(token, listCustomerTokens, own.token, { ids: { customer: own.id } });
        expect(body.data.map(({ current }: { current: boolean }) => current)).toEqual([false]);
        const ids = { customer: own.id, id: body.data[0].id };
        const actors = await actorsOf(() => ask(token, revokeCustomerToken, own.token, { ids }));
        expect(actors.map((actor) => actor.type)).toEqual([type]);
      }
    });

    test.each(behindBearer)("%s ignores the shopper's token", async (_, operation) => {
      const ids = Object.fromEntries(Object.keys(operation.ids ?? {}).map((name) => [name, UNKNOWN]));
      const broken = operation.body && { raw: "{", headers: { "content-type": "application/json" } };
      await ask(tokens.program, operation, onlooker.token, { ids, ...broken });
      const line = f.latchkey.logLines.findLast(({ event }) => event === "request");
      expect(line).toMatchObject({ route: expect.anything(), application_key_id: f.store.key.id });
      // The gateway's check reads the customer token, and changes nothing.
      if (operation.id === checkAtGateway.id) expect(line).toHaveProperty("customer_id");
      else expect(line).not.toHaveProperty("customer_id");
    });

    test("an ended shopper's token does not stop the back office", async () => {
      const ids = { id: onlooker.id };
      const answer = await ask(tokens.program, getCustomer, "no token", { ids });
      expect(answer.status).toBe(200);
    });

    test("a password from the back office ends every session, the sent token's included", async () => {
      const { id, token } = await shopper();
      const changed = json("customer", { password: "another password" });
      await ask(tokens.program, updateCustomer, token, { ids: { id }, ...changed });
      const own = await ask(f.implicit, getCustomer, token, { ids: { id } });
      expect([own.status, own.code]).toEqual([403, "customer_token_invalid"]);
    });

    test("403 for a viewer's key: the shopper's token gives no rights", async () => {
      const changed = { ids: { id: onlooker.id }, ...json("customer", { name: "Eve" }) };
      const answer = await ask(tokens.viewer, updateCustomer, onlooker.token, changed);
      expect([answer.status, answer.code]).toEqual([403, "role_insufficient"]);
    });

    test("with an implicit token, the shopper is the actor", async () => {
      const { id, token } = onlooker;
      const changed = { ids: { id }, ...json("customer", { name: named() }) };
      const actors = await actorsOf(() => ask(f.implicit, updateCustomer, token, changed));
      expect(actors).toEqual([{ type: "customer", id, name: null }]);
    });
  },
);
