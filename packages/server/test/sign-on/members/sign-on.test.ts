import { describe, expect, test } from "vitest";
import { getMe, getMember } from "../../../src/contract/members.ts";
import { deleteProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { authorize } from "../../../src/contract/sign-on.ts";
import { call } from "../../support/call.ts";
import { createFederation, SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { CONSOLE, createMembersSide } from "../../support/members.ts";
import {
  addProfile,
  customers,
  f,
  membersAtTheConsole,
  newEmail,
  reasonOf,
  side,
  statusOf,
} from "./console.ts";

/** Members sign in at the console; which person is which member. */

membersAtTheConsole();

describe("a member's sign-on", () => {
  test("ends at the console with a code for an hour's access token, and makes no customer", async () => {
    const [email, before] = [newEmail(), await customers()];
    const id = await side.invite(email, "support", { name: "Ada Reed" });
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    expect(signedOn.answer.headers.get("location")?.startsWith(`${CONSOLE}?`)).toBe(true);
    const { status, body } = await side.redeem(signedOn);
    expect([status, body.identifier, body.token_type, body.expires_in]).toEqual([
      200,
      "member",
      "Bearer",
      3600,
    ]);
    const me = await side.call(body.access_token, getMe);
    expect(me.body.data).toEqual({
      id,
      type: "caller",
      kind: "member",
      name: "Ada Reed",
      email,
      role: "support",
      store: { id: f.store.store.id, name: "Test store" },
    });
    expect(await customers()).toBe(before);
    const { meta } = (await f.store.call(getMember, { ids: { id } })).body.data;
    expect([meta.status, Date.parse(meta.last_signed_in_at)]).toEqual(["active", f.latchkey.clock.now()]);
  });

  test("passes prompt=none to the provider, and login_required to the console", async () => {
    const begun = await call(f.latchkey.app, authorize, {
      ids: { store: f.store.store.id, realm: side.realmId },
      query: new URLSearchParams(
        f.parameters({
          profile: side.profileId,
          client_id: "members",
          redirect_uri: CONSOLE,
          prompt: "none",
        }),
      ).toString(),
    });
    expect(new URL(begun.headers.get("location") ?? "").searchParams.get("prompt")).toBe("none");
    f.idp.hooks.redirect = ({ state = "" }) => ({ state, error: "login_required" });
    const refused = await side.signOn({}, { prompt: "none" });
    f.idp.hooks = {};
    expect([refused.error, refused.returned.get("state")]).toEqual([
      "login_required",
      "the storefront's state",
    ]);
  });

  test("303 member_unknown for a person who is no member; the remedy says to invite", async () => {
    const signedOn = await side.signOn({ sub: "stranger", email: newEmail() });
    expect([signedOn.error, signedOn.code]).toEqual(["access_denied", ""]);
    const record = await f.recordOf(signedOn.reference);
    expect(record.reason).toBe("member_unknown");
    expect(record.remedy).toMatch(/invite/);
  });

  test("takes the client id and the redirect URI of the members' realm only", async () => {
    const page = async (parameters: Record<string, string>) =>
      (await side.signOn({}, parameters)).answer.code;
    expect(await page({ client_id: "customers" })).toBe("sign_on_client_unknown");
    // Application keys are clients of realms that are OpenID providers; this realm has no endpoint for their codes.
    expect(await page({ client_id: f.store.key.clientId })).toBe("sign_on_client_unknown");
    expect(await page({ redirect_uri: SHOP })).toBe("redirect_uri_unregistered");
    const atCustomers = await f.begin({ cookie: undefined }, { client_id: "members" });
    expect(atCustomers.code).toBe("sign_on_client_unknown");
  });
});

describe("a hostile provider", () => {
  test.each([
    ["does not say", { email_verified: undefined }],
    ["denies", { email_verified: false }],
    ["says as a text", { email_verified: "true" }],
    ["says as a number", { email_verified: 1 }],
  ])("303 member_email_unverified when it %s that the e-mail is verified", async (_, claims) => {
    const email = newEmail();
    const id = await side.invite(email, "administrator");
    const signedOn = await side.signOn({ sub: "liar", email, ...claims });
    expect([signedOn.error, await reasonOf(signedOn.reference)]).toEqual([
      "access_denied",
      "member_email_unverified",
    ]);
    expect(await statusOf(id)).toBe("invited");
  });

  test("gets the same answer for an unverified e-mail, a member's or not", async () => {
    const [known, unknown] = [newEmail(), newEmail()];
    await side.invite(known, "viewer");
    const answers = [];
    for (const email of [known, unknown]) {
      const { error, returned } = await side.signOn({ sub: "prober", email, email_verified: false });
      answers.push([error, returned.get("error_description")]);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  test("cannot bind a second subject to a member; the bound subject signs in with any e-mail", async () => {
    const email = newEmail();
    await side.invite(email, "administrator");
    const first = await side.signOn({ sub: "the right one", email });
    expect((await side.redeem(first)).status).toBe(200);
    const second = await side.signOn({ sub: "another", email });
    expect([second.error, await reasonOf(second.reference)]).toEqual(["access_denied", "member_bound"]);
    const again = await side.signOn({ sub: "the right one", email: newEmail(), email_verified: false });
    expect((await side.redeem(again)).status).toBe(200);
  });

  test.each([
    ["upper case", (email: string) => email.toUpperCase(), true],
    ["full-width letters in the domain", (email: string) => email.replace("shop", "ｓｈｏｐ"), true],
    ["a Cyrillic letter", (email: string) => email.replace("o", "\u043e"), false],
    ["a dotless i", (email: string) => email.replace("person", "pers\u0131n"), false],
    ["a zero-width joiner", (email: string) => email.replace("person", "per\u200dson"), false],
    ["a combining mark", (email: string) => email.replace("person", "person\u0301"), false],
    ["full-width letters in the mailbox", (email: string) => email.replace("person", "ｐerson"), false],
    ["a second address", (email: string) => `${email},evil@evil.example`, false],
    ["a tag", (email: string) => email.replace("@", "+tag@"), false],
  ])(
    "cannot pass as a member with %s in the e-mail, unless it is the same address",
    async (_, spell, isTheSame) => {
      const email = newEmail();
      const id = await side.invite(email, "administrator");
      const signedOn = await side.signOn({ sub: `spelt ${email}`, email: spell(email) });
      expect(signedOn.error === null).toBe(isTheSame);
      if (isTheSame) expect((await side.redeem(signedOn)).status).toBe(200);
      expect(await statusOf(id)).toBe(isTheSame ? "active" : "invited");
    },
  );

  test("in the customers' realm binds no member", async () => {
    const email = newEmail();
    const id = await side.invite(email, "administrator");
    f.idp.person = { ...ADA, sub: `customer ${email}`, email };
    const shopper = await f.signOn();
    expect((await f.redeem(shopper)).status).toBe(200);
    expect(await statusOf(id)).toBe("invited");
  });
});

describe("the member of a sign-on", () => {
  test("is looked up in the own store: another store's invitation is ignored and stays open (A33)", async () => {
    const other = { ...f, store: await f.latchkey.createStore(10_000) };
    const theirs = await createMembersSide(other);
    const [email, foreign] = [newEmail(), newEmail()];
    const [here, there] = [
      await side.invite(email, "viewer"),
      await theirs.invite(email, "administrator"),
      await theirs.invite(foreign, "administrator"),
    ];
    const signedOn = await side.signOn({ sub: `of ${email}`, email });
    const me = await side.call((await side.redeem(signedOn)).body.access_token, getMe);
    expect(me.body.data).toMatchObject({ id: here, role: "viewer" });
    const { meta } = (await other.store.call(getMember, { ids: { id: there } })).body.data;
    expect(meta.status).toBe("invited");
    const stranger = await side.signOn({ sub: `of ${foreign}`, email: foreign });
    expect([stranger.error, await reasonOf(stranger.reference)]).toEqual(["access_denied", "member_unknown"]);
  });

  test("is bound to one profile: a second tab through another profile is refused (A04)", async () => {
    const email = newEmail();
    await side.invite(email, "viewer");
    const person = { sub: `of ${email}`, email };
    const id = await addProfile();
    const [first, second] = [await side.signOn(person), await side.signOn(person, { profile: id })];
    expect((await side.redeem(first)).status).toBe(200);
    const late = await side.redeem(second);
    expect([late.code, late.body.errors[0].meta.reason]).toEqual(["sign_on_refused", "member_bound"]);
    await f.store.call(deleteProfile, { ids: { realm: side.realmId, id } });
  });

  test("is bound to one issuer: after a move of the profile the same subject is another person (A04)", async () => {
    const moved = await createFederation();
    const members = await createMembersSide(moved);
    await members.token("chief@shop.example", "administrator");
    const sub = "subject of chief@shop.example";
    moved.idp.issuer = `${moved.idp.origin}/`;
    const data = {
      type: "oidc-profile",
      discovery_url: moved.idp.issuer,
      client_secret: moved.idp.clientSecrets[0],
      adopt_identities_of: null,
    };
    const ids = { realm: members.realmId, id: members.profileId };
    expect((await moved.store.call(updateProfile, { ids, json: { data } })).status).toBe(200);
    const email = "clerk@shop.example";
    const clerk = await members.invite(email, "viewer");
    expect((await members.signOn({ sub, email, email_verified: false })).error).toBe("access_denied");
    const signedOn = await members.signOn({ sub, email, email_verified: true });
    const me = await members.call((await members.redeem(signedOn)).body.access_token, getMe);
    expect(me.body.data).toMatchObject({ id: clerk, role: "viewer" });
    await moved.close();
  });
});
