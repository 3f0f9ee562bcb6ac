import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { App } from "../../../src/app.ts";
import { realmToken } from "../../../src/contract/sign-on.ts";
import { createTestApp } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { engines, type TestDatabase } from "../../support/engines.ts";
import { newPkce, SHOP } from "../../support/federation.ts";
import { newBrowser, redirectOf } from "../../support/redirects.ts";
import { untilServed } from "../../support/until.ts";
import {
  type Begun,
  begin,
  callbackJourneys,
  codeRedirect,
  end,
  endAt,
  f,
  federateOn,
  idp,
  instances,
  otherInstance,
  refusalFor,
  rowsOf,
  second,
  shared,
  watch,
  withOwnFederation,
  withQuery,
} from "./journey.ts";

/** A callback that is sent again, by one browser or by many at once. */

callbackJourneys();

describe("a repeated callback", () => {
  withOwnFederation();

  test("303 callback_replay after a success, with the first reference; the code still works (N94, R85)", async () => {
    const pkce = newPkce();
    const begun = await begin(newBrowser(), { code_challenge: pkce.challenge });
    const { code = "" } = redirectOf(await end(begun));
    const [{ reference, checks, timings }] = await f.records();
    for (let time = 0; time < 3; time++)
      expect(redirectOf(await end(begun))).toEqual(refusalFor("callback_replay", { reference }));
    expect(idp.asked("/token")).toBe(1);
    expect((await f.redeem({ code, pkce })).status).toBe(200);
    expect(redirectOf(await end(begun))).toEqual(refusalFor("callback_replay", { reference }));
    const records = await f.records();
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ outcome: "exchanged", reason: null, reference, checks, timings });
    expect(checks.length).toBeGreaterThan(0);
  });

  test("303 callback_replay after a failure, with the first reference (N94)", async () => {
    idp.hooks.claims = ({ nonce: _, ...claims }) => claims;
    const begun = await begin();
    const { reference = "" } = redirectOf(await end(begun));
    idp.hooks = {};
    expect(redirectOf(await end(begun))).toEqual(refusalFor("callback_replay", { reference }));
    expect(idp.asked("/token")).toBe(1);
    expect(await f.recordOf(reference)).toMatchObject({ outcome: "failed", reason: "id_token.nonce" });
  });

  test("303 callback_replay has no reference if the failure left no record", async () => {
    const fail = async (begun: Begun) =>
      redirectOf(await end({ ...begun, back: withQuery(begun.back, (query) => query.delete("code")) }));
    let begun = await begin();
    while ((await fail(begun)).reference !== undefined) begun = await begin();
    expect(await fail(begun)).toMatchObject({ error: "callback_replay" });
    expect(await fail(begun)).not.toHaveProperty("reference");
    await f.latchkey.app.tidy();
    expect(await fail(begun)).not.toHaveProperty("reference");
  });

  test("303 callback_replay also with another code or error (N94)", async () => {
    const begun = await begin();
    await end(begun);
    for (const change of [
      (query: URLSearchParams) => query.set("code", "another"),
      (query: URLSearchParams) => query.set("error", "access_denied"),
      (query: URLSearchParams) => query.delete("code"),
    ]) {
      const answer = await end({ ...begun, back: withQuery(begun.back, change) });
      expect(redirectOf(answer)).toEqual(refusalFor("callback_replay"));
    }
    expect(idp.asked("/token")).toBe(1);
  });

  test("303 callback_replay for a code after an error (R86)", async () => {
    const begun = await begin();
    const back = withQuery(begun.back, (query) => query.set("error", "login_required"));
    expect(redirectOf(await end({ ...begun, back })).error).toBe("login_required");
    expect(redirectOf(await end(begun))).toEqual(refusalFor("callback_replay"));
    expect(idp.asked("/token")).toBe(0);
  });

  test("in another browser, or after ten minutes, leaves the first record as it was", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn);
    const [before] = await f.records();
    expect(before.checks.length).toBeGreaterThan(5);
    await end({ browser: newBrowser(), back: signedOn.callback });
    f.latchkey.clock.advance(600_000);
    expect((await end({ browser: signedOn.browser, back: signedOn.callback })).code).toBe("attempt_expired");
    const after = (await f.records()).find(({ id }) => id === before.id);
    expect(after).toEqual(before);
  });

  test("in another browser a hundred times leaves fewer than 50 records (A76)", async () => {
    const begun = await begin();
    for (let time = 0; time < 100; time++)
      expect((await end({ ...begun, browser: newBrowser() })).code).toBe("browser_changed");
    expect((await f.records()).length).toBeLessThan(50);
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test("from a stranger, before the shopper's own, does not hide the reason of the shopper's failure", async () => {
    const begun = await begin();
    expect((await end({ browser: newBrowser(), back: begun.back })).code).toBe("browser_changed");
    idp.hooks.token = () => ({ error: "invalid_grant" });
    const { reference = "" } = redirectOf(await end(begun));
    await f.latchkey.app.tidy();
    const records = (await f.records()).filter((record) => record.reference === reference);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ reason: "token.refused", profile_id: f.profileId });
  });

  test("is recognised until its state expires (N94, N100)", async () => {
    const begun = await begin();
    f.latchkey.clock.advance(599_000);
    await end(begun);
    f.latchkey.clock.advance(500);
    await f.latchkey.app.tidy();
    expect(redirectOf(await end(begun))).toEqual(refusalFor("callback_replay"));
  });
});

describe.each(engines)("a callback on $name", (engine) => {
  let database: TestDatabase;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    await federateOn(database.url);
  });
  afterEach(async () => {
    if (f === shared) return;
    for (const { storage } of instances) if (storage !== f.latchkey.storage) await storage.close();
    await f.close();
    await database.drop();
  });

  test("twenty at once at two instances: one token request, one code, nineteen replays (N94, I1)", async () => {
    const other = engine.name === "sqlite" ? await otherInstance() : await instanceOn();
    const pkce = newPkce();
    const begun = await begin(newBrowser(), { code_challenge: pkce.challenge });
    const apps = [f.latchkey.app, other];
    // A busy database answers temporarily_unavailable; the callback is sent again, as a shopper would.
    const comeBack = (app: App) =>
      untilServed(async () => {
        const answer = await endAt(app, begun);
        return redirectOf(answer).error === "temporarily_unavailable" ? { ...answer, status: 503 } : answer;
      });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => comeBack(apps[index % 2] as App)),
    );
    const codes = answers.map((answer) => redirectOf(answer).code).filter((code) => code !== undefined);
    expect(codes).toHaveLength(1);
    const errors = answers.map((answer) => redirectOf(answer).error).filter((error) => error !== undefined);
    expect(errors).toEqual(Array(19).fill("callback_replay"));
    expect(new Set(answers.map((answer) => redirectOf(answer).reference)).size).toBe(2);
    expect(idp.asked("/token")).toBe(1);
    expect((await f.redeem({ code: codes[0] ?? "", pkce })).status).toBe(200);
    expect(await rowsOf("sign_on_attempts")).toHaveLength(1);
  });

  test("a nonce of any characters is refused at authorize or returned unchanged (OpenID Connect Core 3.1.2.1)", async () => {
    for (const nonce of ["a\0b", "ключ 🔑", "\x01\x7f\u2028"]) {
      const signedOn = await f.signOn({ parameters: { nonce } });
      if (signedOn.error === "invalid_request") continue;
      expect(signedOn.error, JSON.stringify(nonce)).toBeNull();
      const { body } = await call(f.latchkey.app, realmToken, {
        ids: { store: f.store.store.id, realm: f.realmId },
        form: {
          grant_type: "authorization_code",
          code: signedOn.code,
          redirect_uri: SHOP,
          client_id: "customers",
          code_verifier: signedOn.pkce.verifier,
        },
      });
      const payload = JSON.parse(Buffer.from(body.id_token.split(".")[1], "base64url").toString());
      expect(payload.nonce).toBe(nonce);
    }
  });

  /** An instance with connections of its own, as another process has. */
  async function instanceOn(): Promise<App> {
    const allowedOrigins = [idp.origin, second.origin];
    const { clock } = f.latchkey;
    const instance = await createTestApp({ databaseUrl: database.url, clock, allowedOrigins });
    instances.push(instance);
    watch(instance.app);
    return instance.app;
  }
});
