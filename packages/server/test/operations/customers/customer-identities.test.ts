import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCustomer, listCustomerIdentities } from "../../../src/contract/customers.ts";
import { deleteProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { call } from "../../support/call.ts";
import { engines, type TestDatabase } from "../../support/engines.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";

describe.each(engines)("identities of a customer on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  const identitiesOf = (id: string) => f.store.call(listCustomerIdentities, { ids: { id } });

  test("200 with the provider's names for the customer, for the back office and the customer; 404 for others", async () => {
    const { data } = (await f.redeem(await f.signOn())).body;
    const id = data.customer_id;
    const { body } = await identitiesOf(id);
    expect(body.data).toMatchObject([
      {
        type: "customer-identity",
        customer_id: id,
        profile_id: f.profileId,
        issuer: f.idp.issuer,
        subject: expect.stringMatching(/./),
      },
    ]);
    expect(body.data[0].profile_name).not.toBeNull();
    const own = (of: string) =>
      call(f.latchkey.app, listCustomerIdentities, {
        token: f.implicit,
        ids: { id: of },
        headers: { "x-customer-token": data.token },
      });
    expect((await own(id)).body).toEqual(body);
    const json = { data: { type: "customer", name: "Ben", email: "ben@home.example" } };
    const { body: ben } = await f.store.call(createCustomer, { json });
    expect((await own(ben.data.id)).status).toBe(404);
    expect((await identitiesOf(ben.data.id)).body.data).toEqual([]);
  });

  test("200 also for an identity of a deleted profile, without the profile's name", async () => {
    const { data } = (await f.redeem(await f.signOn())).body;
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
    expect((await identitiesOf(data.customer_id)).body.data).toMatchObject([{ profile_name: null }]);
  });

  test("identities of a deleted profile are adopted, and counted when the heir's issuer changes", async () => {
    await f.redeem(await f.signOn());
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
    const id = await f.addProfile({ adopt_identities_of: f.profileId });
    f.idp.person = { ...ADA, sub: "a new subject" };
    await f.redeem(await f.signOn({ parameters: { profile: id } }));
    f.idp.issuer = `${f.idp.origin}/`;
    const data = { type: "oidc-profile", discovery_url: f.idp.issuer, client_secret: "first secret" };
    const moved = await f.store.call(updateProfile, { ids: { realm: f.realmId, id }, json: { data } });
    expect([moved.code, moved.body.errors[0].meta.identities]).toEqual(["identities_left_behind", 2]);
  });

  test("404 for an unknown customer, or another store's", async () => {
    const { data } = (await f.redeem(await f.signOn())).body;
    const other = await f.latchkey.createStore();
    const foreign = await other.call(listCustomerIdentities, { ids: { id: data.customer_id } });
    expect([foreign.status, foreign.body.errors[0].code]).toEqual([404, "customer_not_found"]);
  });
});
