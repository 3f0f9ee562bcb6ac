import { describe, expect, test } from "vitest";
import { issueAccessToken } from "../../../src/contract/access-tokens.ts";
import { listEvents } from "../../../src/contract/events.ts";
import { deleteMember, getMe } from "../../../src/contract/members.ts";
import { realmToken } from "../../../src/contract/sign-on.ts";
import { call } from "../../support/call.ts";
import { SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { CONSOLE } from "../../support/members.ts";
import { customers, f, membersAtTheConsole, side, somebody, statusOf } from "./console.ts";

/** A member's code is exchanged once, for an access token. */

membersAtTheConsole();

describe("a code", () => {
  test("of a member is no customer's: it is refused there without being touched, and then works where it belongs", async () => {
    const [email, before] = [somebody(), await customers()];
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    const asCustomer = await f.redeem(signedOn, { oauth_redirect_uri: CONSOLE });
    expect([asCustomer.status, asCustomer.code]).toEqual([400, "code_invalid"]);
    const form = {
      grant_type: "authorization_code",
      client_id: "members",
      code: signedOn.code,
      redirect_uri: CONSOLE,
      code_verifier: signedOn.pkce.verifier,
    };
    for (const realm of [side.realmId, f.realmId]) {
      const ids = { store: f.store.store.id, realm };
      const client_id = realm === f.realmId ? "customers" : "members";
      const asClient = await call(f.latchkey.app, realmToken, { ids, form: { ...form, client_id } });
      expect(asClient.code).toBe(realm === f.realmId ? "code_invalid" : "realm_not_found");
    }
    expect(await customers()).toBe(before);
    expect((await side.redeem(signedOn)).status).toBe(200);
  });

  test("of a customer is no member's: it is refused there without being touched, and then works where it belongs", async () => {
    const email = somebody();
    await side.invite(email, "administrator");
    f.idp.person = { ...ADA, sub: `customer ${email}`, email };
    const shopper = await f.signOn();
    const asMember = await side.redeem(shopper, { redirect_uri: SHOP });
    expect([asMember.status, asMember.code, asMember.body.error]).toEqual([
      400,
      "code_invalid",
      "invalid_grant",
    ]);
    expect((await f.redeem(shopper)).status).toBe(200);
  });

  test.each([
    ["verifier", { code_verifier: "v".repeat(43) }, "verifier_mismatch"],
    ["redirect URI", { redirect_uri: `${CONSOLE}/x` }, "redirect_uri_mismatch"],
  ])("400 with another %s, which makes it void", async (_, changes, code) => {
    const email = somebody();
    const id = await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    expect((await side.redeem(signedOn, changes)).code).toBe(code);
    expect((await side.redeem(signedOn)).code).toBe("code_invalid");
    expect(await statusOf(id)).toBe("invited");
  });

  test("400 the second time; in a way that no retry explains, the token of the first is revoked", async () => {
    const email = somebody();
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    const { access_token } = (await side.redeem(signedOn)).body;
    expect((await side.redeem(signedOn)).code).toBe("code_already_used");
    expect((await side.call(access_token, getMe)).status).toBe(200);
    // What tells another process that it must ask anew.
    const revision = () =>
      f.latchkey.storage.db
        .selectFrom("stores")
        .select("revision")
        .where("id", "=", f.store.store.id)
        .executeTakeFirstOrThrow();
    const before = await revision();
    expect((await side.redeem(signedOn, { code_verifier: "v".repeat(43) })).code).toBe("code_already_used");
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
    expect((await revision()).revision).toBeGreaterThan(before.revision);
    // Once more takes nothing back that was not taken, and is not told again.
    expect((await side.redeem(signedOn, { code_verifier: "v".repeat(43) })).code).toBe("code_already_used");
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "types=sign_on.code_replayed" });
    expect(body.data).toHaveLength(1);
    // Swept, and not in memory any more: the token has not expired, so it is still known to be revoked.
    f.latchkey.clock.advance(61_000);
    await f.latchkey.app.tidy();
    await side.invite(somebody(), "viewer");
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
  });

  test("400 for a code that expired, for another client id, and for what is missing", async () => {
    const email = somebody();
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    expect((await side.redeem(signedOn, { client_id: "customers" })).code).toBe("members_client_unknown");
    expect((await side.redeem(signedOn, { client_id: f.store.key.clientId })).code).toBe(
      "members_client_unknown",
    );
    expect((await side.redeem(signedOn, { scope: "everything" })).code).toBe("scope_unknown");
    expect((await side.redeem(signedOn, { code: "" })).code).toBe("member_invalid");
    expect((await side.redeem(signedOn, { code: "lkac_x" })).code).toBe("code_invalid");
    expect((await side.redeem(signedOn, { code_verifier: "short" })).code).toBe("member_invalid");
    const bare = await call(f.latchkey.app, issueAccessToken, {
      form: { grant_type: "authorization_code", client_id: "members" },
    });
    expect(bare.codes).toEqual(["member_missing", "member_missing", "member_missing"]);
    f.latchkey.clock.advance(61_000);
    expect((await side.redeem(signedOn)).code).toBe("code_expired");
  });

  test("200 with the client id by Basic, as at every OAuth endpoint; 400 for another one beside it, and the code lives on", async () => {
    const email = somebody();
    await side.invite(email, "viewer");
    const { code, pkce } = await side.signOn({ sub: `of ${email}`, email });
    const redeem = (more: object) =>
      call(f.latchkey.app, issueAccessToken, {
        form: {
          grant_type: "authorization_code",
          code,
          redirect_uri: CONSOLE,
          code_verifier: pkce.verifier,
          ...more,
        },
        headers: { authorization: `Basic ${btoa("members:")}` },
      });
    expect((await redeem({ client_id: "customers" })).code).toBe("client_authenticated_twice");
    expect((await redeem({})).body.identifier).toBe("member");
  });

  test("whoever was removed, or unbound from their profile, between sign-on and exchange gets nothing", async () => {
    const email = somebody();
    const id = await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    await f.store.call(deleteMember, { ids: { id } });
    const answer = await side.redeem(signedOn);
    expect([answer.code, answer.body.errors[0].meta.reason]).toEqual(["sign_on_refused", "member_unknown"]);
  });

  test("whoever was removed meanwhile does not become another by an address that the provider has not verified (A02)", async () => {
    const [email, victim] = [somebody(), somebody()];
    const token = await side.token(email, "viewer");
    const { id } = (await side.call(token, getMe)).body.data;
    const invited = await side.invite(victim, "administrator");
    const person = { sub: `subject of ${email}`, email: victim, email_verified: false };
    const signedOn = await side.signOn(person);
    await f.store.call(deleteMember, { ids: { id } });
    const { code, body } = await side.redeem(signedOn);
    expect([code, body.errors[0].meta.reason]).toEqual(["sign_on_refused", "member_email_unverified"]);
    expect(await statusOf(invited)).toBe("invited");
  });
});
