import { describe, expect, test } from "vitest";
import { checkProfile } from "../../src/contract/oidc-profiles.ts";
import type { SignOnReason } from "../../src/contract/sign-on-reasons.ts";
import {
  type Captured,
  capturedOf,
  capturedProviders,
  startCapturedIdp,
  tokenOf,
} from "../support/captured-idp.ts";
import { createFederation, type Federation } from "../support/federation.ts";

/** Recorded answers of nine real providers: each document is accepted, and each error has its reason. */

/** Runs work with a federation whose provider replays recorded answers. */
async function connected(
  provider: string,
  work: (f: Federation, play: Play) => Promise<void>,
): Promise<void> {
  const idp = await startCapturedIdp(provider);
  const f = await createFederation({ idp, allowedOrigins: [idp.origin] });
  try {
    await work(f, idp.play);
  } finally {
    await f.close();
    await idp.close();
  }
}
type Play = Awaited<ReturnType<typeof startCapturedIdp>>["play"];

const check = async (f: Federation, id: string) => {
  await f.latchkey.app.tidy();
  const { body } = await f.store.call(checkProfile, { ids: { realm: f.realmId, id: f.profileId } });
  return body.data.checks.find((one: { id: string }) => one.id === id);
};

const isBrokered = (answer: Captured): boolean => tokenOf(answer)?.payload.nonce !== undefined;
const userinfoOf = (provider: string, sub: unknown): Captured | undefined =>
  capturedOf(provider, "userinfo").find(({ body }) => body.sub === sub);

const SIGNED_WITH = ["RS256", "PS256", "ES256", "EdDSA"];

describe.each(capturedProviders())("%s", (provider) => {
  test("has a document that meets all requirements", async () => {
    await connected(provider, async (f, play) => {
      for (const discovery of capturedOf(provider, "discovery")) {
        play({ discovery });
        const { body } = await f.store.call(checkProfile, { ids: { realm: f.realmId, id: f.profileId } });
        const missed = body.data.checks.filter(({ status }: { status: string }) => status === "not_met");
        expect(missed).toEqual([]);
      }
      expect(f.profileId).toMatch(/^[0-9a-f-]{36}$/);
    });
  });

  test("signs people on with every recorded token, unless its algorithm or a missing e-mail forbids it", async () => {
    await connected(provider, async (f, play) => {
      const tokens = capturedOf(provider, "token").filter(isBrokered);
      expect(tokens.length).toBeGreaterThan(0);
      for (const token of tokens) {
        const { header, payload } = tokenOf(token) ?? { header: {}, payload: {} };
        const userinfo = userinfoOf(provider, payload.sub);
        play({ token, userinfo });
        f.latchkey.clock.advance(11_000);
        const signedOn = await f.signOn();
        const isSigned = SIGNED_WITH.includes(String(header.alg));
        const hasEmail = (payload.email ?? userinfo?.body.email) !== undefined;
        if (isSigned && hasEmail) {
          expect((await f.redeem(signedOn)).status).toBe(200);
          continue;
        }
        const reason = isSigned ? "claims.email_missing" : "id_token.alg";
        expect((await f.recordOf(signedOn.reference)).reason).toBe(reason);
        if (reason === "claims.email_missing")
          expect(await check(f, "R4")).toMatchObject({ status: "not_met" });
      }
    });
  });
});

const WRONG_SECRET = /client secret in the profile/;

/** Each recorded error: provider, status and code. */
const understood: Record<string, { reason: SignOnReason; remedy: RegExp; requirement?: string }> = {
  "canaille 500 internal_server_error": { reason: "token.unavailable", remedy: /health/ },
  "canaille 401 invalid_client": { reason: "token.client_refused", remedy: WRONG_SECRET },
  "dex 400 invalid_grant": { reason: "token.refused", remedy: /callback URL/ },
  "django 401 invalid_client": { reason: "token.client_refused", remedy: WRONG_SECRET },
  "glewlwyd 403 unauthorized_client": { reason: "token.client_refused", remedy: WRONG_SECRET },
  "hydra 401 invalid_client": { reason: "token.client_refused", remedy: WRONG_SECRET },
  "keycloak 400 invalid_client": { reason: "token.method_refused", remedy: /HTTP Basic/, requirement: "R2" },
  "keycloak 400 invalid_request": {
    reason: "token.encryption_refused",
    remedy: /encryption/,
    requirement: "R6",
  },
  "keycloak 401 unauthorized_client": { reason: "token.client_refused", remedy: WRONG_SECRET },
  "keycloak 400 invalid_grant": { reason: "token.refused", remedy: /idp_answer/ },
  "lemonldap 401 invalid_client": { reason: "token.client_refused", remedy: WRONG_SECRET },
  "spring 401 invalid_client": { reason: "token.client_refused", remedy: WRONG_SECRET },
};

const errors = capturedProviders().flatMap((provider) =>
  capturedOf(provider, "token")
    .filter(({ status }) => status >= 400)
    .map((token) => [`${provider} ${token.status} ${token.body.error}`, provider, token] as const),
);

test("every recorded error is in the table", () => {
  expect([...new Set(errors.map(([name]) => name))].toSorted()).toEqual(Object.keys(understood).toSorted());
});

test.each(errors)("%s has its reason, remedy, evidence and requirement", async (name, provider, token) => {
  const { reason, remedy, requirement } = understood[name] as (typeof understood)[string];
  await connected(provider, async (f, play) => {
    play({ token });
    const { reference, error } = await f.signOn();
    const record = await f.recordOf(reference);
    expect(record).toMatchObject({
      reason,
      remedy: expect.stringMatching(remedy),
      idp_answer: { call: "token", status: token.status, error: token.body.error },
    });
    expect(error).toBe(reason === "token.unavailable" ? "temporarily_unavailable" : "server_error");
    expect(record.idp_answer.error_description?.length ?? 0).toBeLessThanOrEqual(500);
    expect(JSON.stringify(record)).not.toMatch(/eyJ0eX|3xcY8j6HU7/);
    if (requirement !== undefined)
      expect(await check(f, requirement)).toMatchObject({
        status: "not_met",
        evidence: expect.stringContaining(`${token.status} "${token.body.error}`),
      });
  });
});

/** Texts of Keycloak's `error_description` in the redirect; the last row is Amazon Cognito's. */
test.each<[string, string, SignOnReason, string]>([
  ["invalid_request", "Pushed Authorization Request is only allowed.", "idp_error.par_required", "R3"],
  [
    "unauthorized_client",
    "Client is not allowed to initiate browser login with given response_type. Standard flow is disabled for the client.",
    "idp_error.flow_off",
    "R3",
  ],
  ["invalid_scope", "Invalid scopes: openid email", "idp_error.scope", "R4"],
  ["invalid_request", "invalid_scope", "idp_error.scope", "R4"],
])(
  "the redirect %s %s has the reason %s, and %s is not met",
  async (error, error_description, reason, requirement) => {
    await connected("keycloak", async (f) => {
      const honest = f.idp.signIn;
      f.idp.signIn = (location) => {
        const back = new URL(honest(location));
        back.searchParams.delete("code");
        for (const [member, value] of Object.entries({ error, error_description }))
          back.searchParams.set(member, value);
        return back.href;
      };
      const { reference } = await f.signOn();
      expect((await f.recordOf(reference)).reason).toBe(reason);
      expect(await check(f, requirement)).toMatchObject({ status: "not_met" });
    });
  },
);

test("lemonldap's refused consent reaches the storefront as consent_required", async () => {
  await connected("lemonldap", async (f) => {
    const honest = f.idp.signIn;
    f.idp.signIn = (location) => {
      const back = new URL(honest(location));
      back.searchParams.delete("code");
      back.searchParams.set("error", "consent_required");
      return back.href;
    };
    expect((await f.signOn()).error).toBe("consent_required");
  });
});
