import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newPkce, SHOP } from "../../packages/server/test/support/federation.ts";
import { GRACE } from "../support/honest-idp.ts";
import {
  comeBackWithCode,
  enterProvider,
  openBackOffice,
  openSdk,
  refusal,
  type Sdk,
  type Service,
  service,
  serviceForSdk,
  startService,
} from "./elasticpath-sdk.ts";

/** `@elasticpath/js-sdk`: customers, customer tokens, single sign-on, and the rate limit. */

serviceForSdk();

const ADA = { type: "customer", name: "Ada Lovelace", email: "ada@shop.example", password: "correct horse" };

describe("customers", () => {
  test("a shopper opens an account, signs in, and reads and changes it", async () => {
    const { Customers } = await openSdk();
    const made = await Customers.Create({ ...ADA, external_ref: "crm-1" });
    expect(made.data).toMatchObject({
      type: "customer",
      name: ADA.name,
      email: ADA.email,
      password: true,
      external_ref: "crm-1",
    });
    const signedIn = await Customers.Token(ADA.email, ADA.password);
    expect(signedIn.data).toEqual({
      type: "token",
      id: expect.any(String),
      customer_id: made.data.id,
      token: expect.any(String),
      expires: Math.floor(service.clock.now() / 1000) + 86_400,
    });
    const { customer_id, token } = signedIn.data;
    expect((await Customers.Get(customer_id, token)).data.email).toBe(ADA.email);
    const changed = await Customers.Update(customer_id, { name: "Ada King" }, token);
    expect(changed.data).toMatchObject({ name: "Ada King", email: ADA.email });
    expect((await Customers.TokenViaPassword(ADA.email, ADA.password)).data.customer_id).toBe(customer_id);
  });

  test("400 and 403: a wrong password and a missing token reject with the error body, after one request", async () => {
    const { Customers } = await openSdk();
    const { data } = await Customers.Create(ADA);
    await expect(Customers.Token(ADA.email, "wrong horse")).rejects.toEqual(
      refusal("400", "credentials_wrong"),
    );
    expect(service.answers("POST /v2/customers/tokens")).toEqual([400]);
    await expect(Customers.Get(data.id)).rejects.toEqual(refusal("403", "not_permitted"));
    await expect(Customers.All()).rejects.toEqual(refusal("403", "not_permitted"));
    await expect(Customers.Get(data.id, "no token of ours")).rejects.toEqual(
      refusal("403", "customer_token_invalid"),
    );
  });

  test("the back office creates, lists, reads, changes and deletes a customer", async () => {
    const { Customers } = await openBackOffice();
    const { data } = await Customers.Create(ADA);
    expect((await Customers.Get(data.id)).data).toMatchObject({ id: data.id, email: ADA.email });
    expect((await Customers.Update(data.id, { email: "king@shop.example" })).data.email).toBe(
      "king@shop.example",
    );
    expect((await Customers.All()).data).toHaveLength(1);
    await Customers.Delete(data.id);
    await expect(Customers.Get(data.id)).rejects.toEqual(refusal("404", "customer_not_found"));
    expect((await Customers.All()).data).toEqual([]);
  });

  test("are filtered, sorted and read page by page", async () => {
    const { Customers } = await openBackOffice();
    const made = [];
    for (const name of ["Ada Lovelace", "Grace Hopper", "Ada Yonath", "Katherine (K.) Johnson, PhD"]) {
      const email = `${name.replaceAll(/\W/g, "").toLowerCase()}@shop.example`;
      made.push((await Customers.Create({ type: "customer", name, email } as typeof ADA)).data);
      service.clock.advance(1000);
    }
    const [, grace] = made as unknown as { meta: { timestamps: { created_at: string } } }[];
    const created_at = grace?.meta.timestamps.created_at ?? "";
    const names = async (list: Promise<{ data: { name: string }[] }>) =>
      (await list).data.map(({ name }) => name);

    expect(await names(Customers.Filter({ eq: { email: "gracehopper@shop.example" } }).All())).toEqual([
      "Grace Hopper",
    ]);
    expect(await names(Customers.Filter({ eq: { name: "Katherine (K.) Johnson, PhD" } }).All())).toHaveLength(
      1,
    );
    expect(await names(Customers.Filter({ like: { name: "Ada*" } }).All())).toEqual([
      "Ada Lovelace",
      "Ada Yonath",
    ]);
    expect(await names(Customers.Filter({ like: { name: "Ada*" }, gt: { created_at } }).All())).toEqual([
      "Ada Yonath",
    ]);
    expect(await names(Customers.Filter({ le: { created_at } }).All())).toHaveLength(2);
    expect(await names(Customers.Filter({ ge: { created_at } }).All())).toHaveLength(3);
    expect(await names(Customers.Filter({ lt: { created_at } }).All())).toEqual(["Ada Lovelace"]);

    expect(
      await names(
        Customers.Sort("-name" as never)
          .Limit(1)
          .All(),
      ),
    ).toEqual(["Katherine (K.) Johnson, PhD"]);
    const page = await Customers.Sort("name" as never)
      .Limit(2)
      .Offset(2)
      .All();
    expect(page.data.map(({ name }) => name)).toEqual(["Grace Hopper", "Katherine (K.) Johnson, PhD"]);
    expect(page.meta).toEqual({
      page: { limit: 2, offset: 2, current: 2, total: 2 },
      results: { total: 4 },
    });
    expect((await Customers.TotalMethod("observed").With("files").All()).meta.results.total).toBe(4);
  });

  test("are found by an e-mail with a plus sign, which the SDK does not encode", async () => {
    const { Customers } = await openBackOffice();
    const email = "ada+shop@shop.example";
    const { data } = await Customers.Create({ ...ADA, email });
    expect((await Customers.Filter({ eq: { email } }).All()).data).toEqual([
      expect.objectContaining({ id: data.id }),
    ]);
    expect((await Customers.Filter({ like: { email: "ada+*" } }).All()).data).toHaveLength(1);
  });

  test("400: a filter with unknown members rejects, and does not list every customer", async () => {
    const { Customers } = await openBackOffice();
    const filter = { eq: { shoe_size: "38" } } as object;
    await expect(Customers.Filter(filter).All()).rejects.toMatchObject({
      errors: [{ status: "400", code: "parameter_invalid", source: { parameter: "filter" } }],
    });
  });
});

const TOKENS = "POST /v2/customers/tokens";

describe("single sign-on", () => {
  test("the SDK goes from the settings to the customer, and redeems the code (seed 4)", async () => {
    const office = await enterProvider();
    const sdk = await openSdk();
    const { code, verifier } = await comeBackWithCode(sdk);
    const { data } = await sdk.Customers.TokenViaOIDC(code, SHOP, verifier);
    expect(Object.keys(data).sort()).toEqual(["customer_id", "expires", "id", "token", "type"]);
    const { data: customer } = await sdk.Customers.Get(data.customer_id, data.token);
    expect(customer).toMatchObject({ email: GRACE.email, password: false });
    expect((await office.Customers.All()).data).toEqual([expect.objectContaining({ id: customer.id })]);
  });

  test("400: a code works once, a wrong verifier uses it up, and the SDK does not repeat the request", async () => {
    await enterProvider();
    const sdk = await openSdk();
    const used = await comeBackWithCode(sdk);
    await sdk.Customers.TokenViaOIDC(used.code, SHOP, used.verifier);
    await expect(sdk.Customers.TokenViaOIDC(used.code, SHOP, used.verifier)).rejects.toEqual(
      refusal("400", "code_already_used"),
    );
    const spent = await comeBackWithCode(sdk);
    await expect(sdk.Customers.TokenViaOIDC(spent.code, SHOP, newPkce().verifier)).rejects.toEqual(
      refusal("400", "verifier_mismatch"),
    );
    expect(service.answers(TOKENS)).toEqual([200, 400, 400]);
  });

  test("401 does not use up the code: the SDK fetches an access token and sends the code again", async () => {
    await enterProvider();
    const sdk = await openSdk();
    const { code, verifier } = await comeBackWithCode(sdk);
    const { clientId, clientSecret } = service.key;
    const revoked = await fetch(`${service.url}/oauth/revoke`, {
      method: "POST",
      body: new URLSearchParams({
        client_id: clientId,
        client_secret: clientSecret,
        token: sdk.credentials()?.access_token ?? "",
      }),
    });
    expect(revoked.status).toBe(200);
    expect((await sdk.Customers.TokenViaOIDC(code, SHOP, verifier)).data.token).toBeTruthy();
    expect(service.answers(TOKENS)).toEqual([401, 200]);
  });

  test("with an Idempotency-Key in the SDK's headers a page may redeem twice and gets one token", async () => {
    await enterProvider();
    const sdk = await openSdk({ headers: { "Idempotency-Key": "page-load-1" } });
    const { code, verifier } = await comeBackWithCode(sdk);
    const first = await sdk.Customers.TokenViaOIDC(code, SHOP, verifier);
    expect(await sdk.Customers.TokenViaOIDC(code, SHOP, verifier)).toEqual(first);
  });
});

describe("too many requests", () => {
  let small: Service;
  beforeEach(async () => {
    small = await startService(5);
  });
  afterEach(() => small.close());

  /** Uses up the store's limit of this second. */
  async function useUp(sdk: Sdk): Promise<void> {
    const { access_token } = sdk.credentials() ?? {};
    const headers = { authorization: `Bearer ${access_token}` };
    const settings = `${small.url}/v2/customer-authentication-settings`;
    while ((await fetch(settings, { headers })).status !== 429);
  }

  test("429 does not use up the code: the SDK waits and sends the code again", async () => {
    await enterProvider(small);
    small.clock.advance(1000);
    const sdk = await openSdk({}, small);
    const { code, verifier } = await comeBackWithCode(sdk);
    await useUp(sdk);
    small.onLimited = () => small.clock.advance(1000);
    expect((await sdk.Customers.TokenViaOIDC(code, SHOP, verifier)).data.token).toBeTruthy();
    expect(small.answers(TOKENS)).toEqual([429, 200]);
  });

  test("429: after four attempts the SDK rejects with the error body", async () => {
    const sdk = await openSdk({}, small);
    await useUp(sdk);
    const before = small.journal.length;
    await expect(sdk.AuthenticationSettings.Get()).rejects.toEqual(refusal("429", "rate_limit_exceeded"));
    expect(small.journal.slice(before).map(({ status }) => status)).toEqual([429, 429, 429, 429]);
  });
});
