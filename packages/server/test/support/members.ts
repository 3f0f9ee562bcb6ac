import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import { createMember } from "../../src/contract/members.ts";
import { createProfile } from "../../src/contract/oidc-profiles.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { createRealm } from "../../src/contract/realms.ts";
import type { Role } from "../../src/contract/roles.ts";
import { authorize } from "../../src/contract/sign-on.ts";
import { PUBLIC_URL } from "./app.ts";
import { type Answer, type Call, call } from "./call.ts";
import { type Browser, type Federation, newPkce, type SignedOn } from "./federation.ts";

export const CONSOLE = `${PUBLIC_URL}/console/signed-in`;

/** The members' side of a federation: its realm and profile at the same provider, and the sign-in of the console. */
export type MembersSide = {
  realmId: string;
  profileId: string;
  invite(email: string, role: Role, data?: object): Promise<string>;
  /** Signs on as `person`, from the start to the console's redirect URI. */
  signOn(
    person?: object,
    parameters?: Record<string, string | undefined>,
  ): Promise<Pick<SignedOn, "code" | "pkce" | "error" | "returned" | "reference" | "answer">>;
  redeem(signedOn: Pick<SignedOn, "code" | "pkce">, changes?: object): Promise<Answer>;
  /** Invites the member if necessary, and signs in; returns the access token. */
  token(email: string, role: Role): Promise<string>;
  call(token: string, operation: Operation, request?: Call): Promise<Answer>;
};

export async function createMembersSide(f: Federation): Promise<MembersSide> {
  const { app } = f.latchkey;
  const realm = await f.store.call(createRealm, {
    json: { data: { type: "authentication-realm", name: "Members", purpose: "members" } },
  });
  const realmId: string = realm.body.data.id;
  const profile = await f.store.call(createProfile, {
    ids: { realm: realmId },
    json: {
      data: {
        type: "oidc-profile",
        name: "Work accounts",
        discovery_url: f.idp.discoveryUrl,
        client_id: f.idp.clientId,
        client_secret: f.idp.clientSecrets[0],
      },
    },
  });
  const profileId: string = profile.body.data.id;

  const side: MembersSide = {
    realmId,
    profileId,
    async invite(email, role, data = {}) {
      const json = { data: { type: "member", email, role, ...data } };
      return (await f.store.call(createMember, { json })).body.data.id;
    },
    async signOn(person = {}, parameters = {}) {
      const pkce = newPkce();
      const query = new URLSearchParams(
        f.parameters({
          profile: profileId,
          client_id: "members",
          redirect_uri: CONSOLE,
          code_challenge: pkce.challenge,
          ...parameters,
        }),
      ).toString();
      const begun = await call(app, authorize, { ids: { store: f.store.store.id, realm: realmId }, query });
      const cookie = /^[^=]+=([^;]+)/.exec(begun.headers.get("set-cookie") ?? "")?.[1];
      const atIdp = begun.headers.get("location") ?? "";
      let answer = begun;
      if (atIdp.startsWith(f.idp.origin)) {
        const browser: Browser = { cookie };
        f.idp.person = { ...f.idp.person, ...person };
        answer = await f.comeBack(browser, f.idp.signIn(atIdp));
      }
      const location = answer.headers.get("location") ?? "";
      const returned = new URLSearchParams(location.slice(location.indexOf("?")));
      const [code, error, reference] = ["code", "error", "reference"].map((name) => returned.get(name));
      return { pkce, answer, returned, code: code ?? "", error: error ?? null, reference: reference ?? "" };
    },
    redeem: ({ code, pkce }, changes = {}) =>
      call(app, issueAccessToken, {
        form: {
          grant_type: "authorization_code",
          client_id: "members",
          code,
          redirect_uri: CONSOLE,
          code_verifier: pkce.verifier,
          ...changes,
        },
      }),
    async token(email, role) {
      await side.invite(email, role);
      const signedOn = await side.signOn({ sub: `subject of ${email}`, email, email_verified: true });
      return (await side.redeem(signedOn)).body.access_token;
    },
    call: (token, operation, request = {}) => call(app, operation, { token, ...request }),
  };
  return side;
}
