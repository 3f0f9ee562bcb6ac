import { describe, expect, test } from "vitest";
import { revokeToken } from "../../../src/contract/access-tokens.ts";
import { getMe } from "../../../src/contract/members.ts";
import { updateAuthenticationSettings, updateRealm } from "../../../src/contract/realms.ts";
import { call } from "../../support/call.ts";
import { CONSOLE } from "../../support/members.ts";
import { f, membersAtTheConsole, newEmail, side } from "./console.ts";

/** The command line signs a member in: client `cli`, redirect URIs on the loopback address (RFC 8252). */

membersAtTheConsole();

const LOOPBACK = "http://127.0.0.1:49152/callback";
const asCli = { client_id: "cli", redirect_uri: LOOPBACK };

/** Signs an invited person on through the command line. */
async function signOn(changes: Record<string, string | undefined> = {}) {
  const email = newEmail();
  await side.invite(email, "support");
  return side.signOn({ sub: `of ${email}`, email }, { ...asCli, ...changes });
}

describe("the command line's sign-on", () => {
  test.each([1, 49_152, 65_535])("ends at 127.0.0.1 with port %d, which is not registered", async (port) => {
    const redirect_uri = `http://127.0.0.1:${port}/callback`;
    const signedOn = await signOn({ redirect_uri });
    expect(signedOn.answer.headers.get("location")?.startsWith(`${redirect_uri}?`)).toBe(true);
    const { status, body } = await side.redeem(signedOn, { client_id: "cli", redirect_uri });
    expect([status, body.identifier]).toEqual([200, "member"]);
    expect((await side.call(body.access_token, getMe)).body.data.role).toBe("support");
  });

  test("without a choice of provider uses the realm's only one", async () => {
    const signedOn = await signOn({ profile: undefined });
    expect((await side.redeem(signedOn, asCli)).status).toBe(200);
  });

  test.each([
    "http://localhost:49152/callback",
    "http://[::1]:49152/callback",
    "http://127.0.0.2:49152/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:0/callback",
    "http://127.0.0.1:65536/callback",
    "http://127.0.0.1:049152/callback",
    "http://127.0.0.1:49152/",
    "http://127.0.0.1:49152/callback/",
    "http://127.0.0.1:49152/callback?x=1",
    "https://127.0.0.1:49152/callback",
    CONSOLE,
  ])("400 on a page for %s", async (redirect_uri) => {
    const { answer } = await signOn({ redirect_uri });
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
  });

  test("400 for a loopback address that only the realm has registered", async () => {
    const redirect_uri = "http://127.0.0.1:5000/signed-in";
    const json = { data: { type: "authentication-realm", redirect_uris: [CONSOLE, redirect_uri] } };
    await f.store.call(updateRealm, { ids: { id: side.realmId }, json });
    expect((await signOn({ redirect_uri })).answer.code).toBe("redirect_uri_unregistered");
  });

  test("400 for the console at the command line's address", async () => {
    const { answer } = await signOn({ client_id: "members" });
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
  });

  test("400 without PKCE", async () => {
    const { error } = await signOn({ code_challenge: undefined, code_challenge_method: undefined });
    expect(error).toBe("invalid_request");
  });
});

describe("the command line's code", () => {
  test("400 as the console's client; the console's code is refused as the command line's", async () => {
    const signedOn = await signOn();
    const asConsole = await side.redeem(signedOn, { redirect_uri: LOOPBACK });
    expect([asConsole.status, asConsole.code]).toEqual([400, "code_invalid"]);
    const atConsole = await signOn({ client_id: "members", redirect_uri: CONSOLE });
    expect((await side.redeem(atConsole, { client_id: "cli" })).code).toBe("code_invalid");
  });

  test("400 with another port", async () => {
    const signedOn = await signOn();
    const redirect_uri = "http://127.0.0.1:49153/callback";
    expect((await side.redeem(signedOn, { client_id: "cli", redirect_uri })).code).toBe(
      "redirect_uri_mismatch",
    );
  });

  test("gives a token that revokes itself with the client id cli", async () => {
    const { access_token } = (await side.redeem(await signOn(), asCli)).body;
    const form = { client_id: "cli", token: access_token };
    expect((await call(f.latchkey.app, revokeToken, { form })).status).toBe(200);
    expect((await side.call(access_token, getMe)).code).toBe("token_invalid");
  });
});

describe("a realm of customers", () => {
  test("400 for the client id cli, also at a loopback address", async () => {
    const { answer } = await f.signOn({ parameters: asCli });
    expect([answer.status, answer.code]).toEqual([400, "sign_on_client_unknown"]);
  });

  test("whose storefront has the client id cli accepts registered redirect URIs alone", async () => {
    const data = { type: "customer-authentication-settings", client_id: "cli" };
    await f.store.call(updateAuthenticationSettings, { json: { data } });
    const { answer } = await f.signOn({ parameters: asCli });
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
  });
});
