import { describe, expect, test } from "vitest";
import { callback } from "../../../src/contract/sign-on.ts";
import { call } from "../../support/call.ts";
import { COOKIE, createFederation, SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { locationOf, newBrowser, redirectOf } from "../../support/redirects.ts";
import {
  begin,
  callbackJourneys,
  codeRedirect,
  customerOf,
  end,
  f,
  idp,
  people,
  rowsOf,
  STATE,
  second,
} from "./journey.ts";

/** A callback that succeeds: the customer, the redirect, the record. */

callbackJourneys();

describe("the customer of a sign-on", () => {
  test("the same subject and e-mail at two providers are two customers (A01, A04)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const [one, other] = [await customerOf(idp), await customerOf(second, { profile })];
    expect(other).not.toBe(one);
    expect([await customerOf(idp), await customerOf(second, { profile })]).toEqual([one, other]);
    const [first, next] = await rowsOf("customers");
    expect(first?.email_key).toBe(next?.email_key);
  });

  test("the same subject through two profiles of one provider is two customers (A04)", async () => {
    const profile = await f.addProfile();
    expect(await customerOf(idp, { profile })).not.toBe(await customerOf(idp));
  });

  test("the same subject in another store is another customer (A04, A33)", async () => {
    const one = await customerOf(idp);
    const { storage, clock } = f.latchkey;
    const other = await createFederation({ idp, storage, clock });
    const signedOn = await other.signOn();
    const { body } = await other.redeem(signedOn);
    expect(body.data.customer_id).not.toBe(one);
    await other.latchkey.app.stop();
  });

  test("a new name, user name or e-mail at the provider keeps the customer (A10, R113)", async () => {
    const ids = [await customerOf(idp)];
    for (const change of [
      { preferred_username: "ada" },
      { preferred_username: "lovelace" },
      { name: "Augusta Ada King" },
      { email: "countess@shop.example" },
      { email: "countess@shop.example", email_verified: false },
    ]) {
      idp.person = { ...ADA, ...change };
      ids.push(await customerOf(idp));
    }
    expect(new Set(ids).size).toBe(1);
    expect(await rowsOf("customers")).toHaveLength(1);
  });

  test("another subject with the old e-mail is another customer (A01)", async () => {
    const one = await customerOf(idp);
    idp.person = { ...ADA, sub: "the new owner of the address" };
    expect(await customerOf(idp)).not.toBe(one);
  });

  test("subjects that differ in case or in a space are different customers (N41, R104, R107)", async () => {
    const ids = [];
    for (const sub of ["subject", "Subject", "SUBJECT", "subject ", " subject", "null", "undefined", "0"]) {
      idp.person = { ...ADA, sub };
      ids.push(await customerOf(idp));
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("the token has the store, profile and subject of its sign-on (I3)", async () => {
    const customer = await customerOf(idp);
    const place = { store_id: f.store.store.id, profile_id: f.profileId, customer_id: customer };
    expect(await rowsOf("customer_identities")).toEqual([
      expect.objectContaining({ ...place, realm_id: f.realmId, issuer: idp.issuer, subject: ADA.sub }),
    ]);
    expect(await rowsOf("customer_tokens")).toEqual([
      expect.objectContaining({ ...place, subject: ADA.sub }),
    ]);
  });

  test("no customer is made before the code is redeemed (I3)", async () => {
    expect(redirectOf(await end(await begin()))).toEqual(codeRedirect());
    expect(await people()).toEqual({ customers: [], identities: [], tokens: [] });
  });
});

describe("a callback that succeeds", () => {
  test("303 to the redirect URI of the request, without a referrer and without a cookie (R14, R15)", async () => {
    const redirect_uri = `${SHOP}?shop=1`;
    const answer = await end(await begin(newBrowser(), { redirect_uri }));
    expect(answer.status).toBe(303);
    expect(locationOf(answer).startsWith(`${redirect_uri}&code=lkac_`)).toBe(true);
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.has("set-cookie")).toBe(false);
  });

  test("sends the provider the callback URI and the verifier, and no secret in a URL (R35, R90)", async () => {
    const begun = await begin();
    await end(begun);
    const sent = idp.journal.find(({ path }) => path === "/token");
    const form = new URLSearchParams(sent?.body);
    expect([...form.keys()].sort()).toEqual(["code", "code_verifier", "grant_type", "redirect_uri"]);
    expect(form.get("redirect_uri")).toBe(f.callbackUrl);
    expect(form.get("code_verifier")).toMatch(/^[A-Za-z0-9\-._~]{43,128}$/);
    expect(begun.location).not.toContain(form.get("code_verifier"));
  });

  test("ignores the host headers of the request (T34)", async () => {
    const begun = await begin();
    const answer = await call(f.latchkey.app, callback, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      query: begun.back.slice(begun.back.indexOf("?") + 1),
      headers: {
        cookie: `${COOKIE}=${begun.browser.cookie}`,
        host: "evil.example",
        forwarded: "host=evil.example",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
      },
    });
    expect(redirectOf(answer)).toEqual(codeRedirect());
    expect(idp.journal.at(-1)?.body).not.toContain("evil.example");
  });

  test("leaves a record with every check passed, and no secret in record or log (I10)", async () => {
    const signedOn = await f.signOn();
    const [record] = await f.records();
    expect(record).toMatchObject({
      outcome: "code_issued",
      reason: null,
      error: null,
      profile_name: "Hostile",
    });
    expect(record.checks.every(({ passed }: { passed: boolean }) => passed)).toBe(true);
    expect(Object.keys(record.timings)).toEqual(["discovery", "wait", "token", "identify", "write"]);
    const written = JSON.stringify([record, f.latchkey.logLines]);
    const query = new URLSearchParams(signedOn.callback.split("?")[1]);
    for (const secret of [
      signedOn.code,
      query.get("code"),
      query.get("state"),
      signedOn.browser.cookie,
      STATE,
    ])
      expect(written).not.toContain(secret);
  });
});
