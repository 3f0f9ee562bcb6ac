import { describe, expect, test } from "vitest";
import { ADA } from "../../support/hostile-idp.ts";
import { createMembersSide } from "../../support/members.ts";
import {
  f,
  good,
  isAlive,
  logOut,
  nowSeconds,
  outcome,
  post,
  providerSessions,
  signIn,
  withOptions,
} from "./logout-tokens.ts";

/** A logout token that arrives during a sign-on, late, or more than once. */

providerSessions();

describe("a logout token that arrives during the token request of a sign-on", () => {
  /** Sends a logout token while the service waits for the provider's token endpoint. */
  function endMeanwhile(changes: object): void {
    f.idp.hooks.answer = {
      async "/token"() {
        f.idp.hooks.answer = {};
        expect((await logOut(changes)).status).toBe(200);
        return "honest";
      },
    };
  }

  test.each<[string, object]>([
    ["by session", { sub: undefined }],
    ["by subject", { sid: undefined }],
    ["by both", {}],
  ])("%s: the code is refused, and the record has the reason (N116)", async (_, changes) => {
    endMeanwhile(changes);
    const answer = await f.redeem(await f.signOn());
    expect(outcome(answer)).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("session_ended");
    expect(await f.records()).toMatchObject([{ outcome: "failed", reason: "session_ended" }]);
    expect(await f.latchkey.storage.db.selectFrom("customers").selectAll().execute()).toEqual([]);
  });

  test("may mean a session that has no sid: the code is refused", async () => {
    f.idp.person = { ...ADA, sid: undefined };
    endMeanwhile({});
    expect(outcome(await f.redeem(await f.signOn()))).toEqual([400, "sign_on_refused"]);
  });

  test.each<[string, object]>([
    ["another session of the subject", { sid: "session-2" }],
    ["another session alone", { sub: undefined, sid: "session-2" }],
    ["another subject", { sub: "bea", sid: undefined }],
    ["another subject's session of the same name", { sub: "bea" }],
  ])("for %s: the code works", async (_, changes) => {
    endMeanwhile(changes);
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("does not count for later sign-ons, even when it is sent again", async () => {
    const made = f.idp.signToken(good({ sid: undefined, exp: nowSeconds() + 600 }));
    await post(made);
    f.latchkey.clock.advance(1000);
    const next = await f.signOn();
    expect((await f.redeem(next)).status).toBe(200);
    f.latchkey.clock.advance(120_000);
    const later = await f.signOn();
    await post(made);
    expect((await f.redeem(later)).status).toBe(200);
  });

  test("refuses a member's code, too", async () => {
    const side = await createMembersSide(f);
    const at = { store: f.store.store.id, realm: side.realmId, profile: side.profileId };
    const ended = { sub: "subject of ada@shop.example", sid: undefined };
    f.idp.hooks.answer = {
      async "/token"() {
        f.idp.hooks.answer = {};
        expect((await logOut(ended, { ids: at })).status).toBe(200);
        return "honest";
      },
    };
    await side.invite("ada@shop.example", "support");
    const signedOn = await side.signOn({ sub: "subject of ada@shop.example", email: "ada@shop.example" });
    const refused = await side.redeem(signedOn);
    expect(outcome(refused)).toEqual([400, "sign_on_refused"]);
    expect((await f.records())[0]).toMatchObject({ outcome: "failed", reason: "session_ended" });
  });

  test("is remembered for longer than a code lives", async () => {
    await withOptions({ codeSeconds: 600 });
    f.idp.hooks.answer = {
      async "/token"() {
        f.idp.hooks.answer = {};
        expect((await logOut()).status).toBe(200);
        // The provider takes ten seconds, so the code is ten seconds younger than the end of the session.
        f.latchkey.clock.advance(10_000);
        return "honest";
      },
    };
    const signedOn = await f.signOn();
    f.latchkey.clock.advance(595_000);
    await f.latchkey.app.tidy();
    const token = await f.store.token("implicit");
    expect(outcome(await f.redeem(signedOn, {}, { token }))).toEqual([400, "sign_on_refused"]);
  });

  test("is forgotten together with the attempts", async () => {
    const ended = () => f.latchkey.storage.db.selectFrom("ended_idp_sessions").selectAll().execute();
    await logOut();
    await logOut({ jti: "two" });
    expect(await ended()).toHaveLength(1);
    f.latchkey.clock.advance(4_140_000);
    await f.latchkey.app.tidy();
    expect(await ended()).toHaveLength(1);
    f.latchkey.clock.advance(60_000);
    await f.latchkey.app.tidy();
    expect(await ended()).toEqual([]);
  });
});

describe("a repeated logout token", () => {
  test("200 without effect on sessions that began since (N115, R172)", async () => {
    const token = f.idp.signToken(good());
    const session = await signIn();
    await post(token);
    expect(await isAlive(session)).toBe(false);
    const next = await signIn({ ...ADA, sid: "session-2" });
    for (let i = 0; i < 3; i++) expect((await post(token)).status).toBe(200);
    expect(await isAlive(next)).toBe(true);
  });

  test("with the subject alone ends no later session (N115)", async () => {
    const token = f.idp.signToken(good({ sid: undefined, exp: nowSeconds() + 600 }));
    await signIn();
    await post(token);
    f.latchkey.clock.advance(300_000);
    const next = await signIn({ ...ADA, sid: "session-2" });
    await post(token);
    expect(await isAlive(next)).toBe(true);
  });

  test("an older one does not move the end of sessions back", async () => {
    const older = f.idp.signToken(good({ exp: nowSeconds() + 600 }));
    f.latchkey.clock.advance(300_000);
    const ended = () => f.latchkey.storage.db.selectFrom("ended_idp_sessions").select("ended_at").execute();
    await logOut();
    const before = await ended();
    await post(older);
    expect(await ended()).toEqual(before);
  });

  test("voids no code that was issued long after it", async () => {
    const made = f.idp.signToken(good({ exp: nowSeconds() + 600 }));
    expect((await post(made)).status).toBe(200);
    f.latchkey.clock.advance(300_000);
    const later = await f.signOn();
    expect((await post(made)).status).toBe(200);
    const token = await f.store.token("implicit");
    expect((await f.redeem(later, {}, { token })).status).toBe(200);
  });

  test("400 once it is too old (N115)", async () => {
    const token = f.idp.signToken(good());
    f.latchkey.clock.advance(3_600_000);
    const session = await signIn();
    expect(outcome(await post(token))).toEqual([400, "logout_token_invalid"]);
    expect(await isAlive(session)).toBe(true);
  });
});
