import { describe, expect, test } from "vitest";
import { issueAccessToken } from "../../../src/contract/access-tokens.ts";
import { listEvents } from "../../../src/contract/events.ts";
import { deleteMember, getMe } from "../../../src/contract/members.ts";
import { realmToken } from "../../../src/contract/sign-on.ts";
import { call } from "../../support/call.ts";
import { SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { CONSOLE } from "../../support/members.ts";
import { customers, f, membersAtTheConsole, newEmail, side, statusOf } from "./console.ts";

/** A member's code is exchanged once, for an access token. */

membersAtTheConsole();

describe("an authorization code", () => {
  test("for a member is refused at both of the customers' endpoints, and works at the members' afterwards", async () => {
    const [email, before] = [newEmail(), await customers()];
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

  test("for a customer is refused at the members' endpoint, and works at the customers' afterwards", async () => {
    const email = newEmail();
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
  ])("400 with another %s; the code is void", async (_, changes, code) => {
    const email = newEmail();
    const id = await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    expect((await side.redeem(signedOn, changes)).code).toBe(code);
    expect((await side.redeem(signedOn)).code).toBe("code_invalid");
    expect(await statusOf(id)).toBe("invited");
  });

  test("400 the second time; with a wrong verifier, the first use's token is revoked", async () => {
    const email = newEmail();
    await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    const { access_token } = (await side.redeem(signedOn)).body;
    expect((await side.redeem(signedOn)).code).toBe("code_already_used");
    expect((await side.call(access_token, getMe)).status).toBe(200);
    // The store's revision: a higher one makes other processes read the rights again.
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
    // A third use revokes nothing more and writes no second event.
    expect((await side.redeem(signedOn, { code_verifier: "v".repeat(43) })).code).toBe("code_already_used");
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "types=sign_on.code_replayed" });
    expect(body.data).toHaveLength(1);
    // The row is swept and the cache is cold, but the token has not expired: the revocation is still known.
    f.latchkey.clock.advance(61_000);
    await f.latchkey.app.tidy();
    await side.invite(newEmail(), "viewer");
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
  });

  test("400 for an expired code, another client id, and missing or malformed fields", async () => {
    const email = newEmail();
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

  test("200 with the client id by Basic; 400 for another client id beside it, and the code still works", async () => {
    const email = newEmail();
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

  test("400 for a member who was removed between sign-on and exchange", async () => {
    const email = newEmail();
    const id = await side.invite(email, "viewer");
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    await f.store.call(deleteMember, { ids: { id } });
    const answer = await side.redeem(signedOn);
    expect([answer.code, answer.body.errors[0].meta.reason]).toEqual(["sign_on_refused", "member_unknown"]);
  });

  test("400 for a removed member: the e-mail that the provider has not verified binds no other member (A02)", async () => {
    const [email, victim] = [newEmail(), newEmail()];
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
