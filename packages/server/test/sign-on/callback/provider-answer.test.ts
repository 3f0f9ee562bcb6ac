import { describe, expect, test } from "vitest";
import type { SignOnReason } from "../../../src/contract/sign-on-reasons.ts";
import { newBrowser, redirectOf } from "../../support/redirects.ts";
import {
  begin,
  callbackJourneys,
  codeRedirect,
  end,
  f,
  idp,
  REREAD_MS,
  refusalFor,
  withOwnFederation,
} from "./journey.ts";

/** The provider's redirect: its issuer (RFC 9207) and its errors. */

callbackJourneys();

describe("iss in the provider's redirect (RFC 9207)", () => {
  withOwnFederation();

  const saysIss = (document: object) => ({
    ...document,
    authorization_response_iss_parameter_supported: true,
  });

  test.each<[string, (issuer: string) => string]>([
    ["another", () => "https://evil.example"],
    ["with a slash at its end", (issuer) => `${issuer}/`],
    ["in capitals", (issuer) => issuer.toUpperCase()],
    ["with a space", (issuer) => `${issuer} `],
    ["cut short", (issuer) => issuer.slice(0, -1)],
    ["encoded twice", (issuer) => encodeURIComponent(issuer)],
    ["the realm's own", () => f.issuer],
  ])("303 response.iss_mismatch for an issuer that is %s, announced or not (N92, R80)", async (_, change) => {
    for (const discovery of [undefined, saysIss]) {
      f.latchkey.clock.advance(REREAD_MS);
      idp.hooks = {
        ...(discovery && { discovery }),
        redirect: (parameters) => ({ ...parameters, iss: change(idp.issuer) }),
      };
      expect(redirectOf(await end(await begin()))).toEqual(refusalFor("response.iss_mismatch"));
      expect(idp.asked("/token")).toBe(0);
    }
  });

  test("303 response.iss_missing without iss, if the provider announced it (N93, R81)", async () => {
    idp.hooks = { discovery: saysIss };
    expect(redirectOf(await end(await begin()))).toEqual(refusalFor("response.iss_missing"));
    expect(idp.asked("/token")).toBe(0);
  });

  test("may be absent if the provider did not announce it; the right value is always accepted (N93)", async () => {
    expect(redirectOf(await end(await begin()))).toEqual(codeRedirect());
    idp.hooks.redirect = (parameters) => ({ ...parameters, iss: idp.issuer });
    expect(redirectOf(await end(await begin()))).toEqual(codeRedirect());
    idp.hooks.discovery = saysIss;
    f.latchkey.clock.advance(REREAD_MS);
    expect(redirectOf(await end(await begin()))).toEqual(codeRedirect());
  });

  test("303 response.iss_mismatch for an error with another issuer (R80)", async () => {
    idp.hooks.redirect = ({ state = "" }) => ({ state, error: "access_denied", iss: "https://evil.example" });
    expect(redirectOf(await end(await begin()))).toEqual(refusalFor("response.iss_mismatch"));
  });

  test("303 response.iss_missing for an error without the announced iss; the record has the error (R81)", async () => {
    idp.hooks = {
      discovery: saysIss,
      redirect: ({ state = "" }) => ({ state, error: "access_denied", error_description: "she said no" }),
    };
    const answer = redirectOf(await end(await begin()));
    expect(answer).toEqual(refusalFor("response.iss_missing"));
    expect(await f.recordOf(answer.reference ?? "")).toMatchObject({
      remedy: expect.stringContaining("beside errors too"),
      idp_answer: { call: "authorize", error: "access_denied", error_description: "she said no" },
    });
  });

  test("the record has both issuers, on one line each, of at most 200 characters", async () => {
    const iss = `evil\r\n\u202e\0${"x".repeat(500)}`;
    idp.hooks.redirect = (parameters) => ({ ...parameters, iss });
    const { reference = "" } = redirectOf(await end(await begin()));
    const [check] = (await f.recordOf(reference)).checks;
    expect(check).toMatchObject({ check: "response.iss", passed: false, expected: idp.issuer });
    expect(check.found.length).toBeLessThanOrEqual(200);
    expect(check.found).toMatch(/^evil[^\p{C}\p{Zl}\p{Zp}]+$/u);
  });
});

describe("an error in the provider's redirect", () => {
  const description = "marker <script>alert(1)</script>\r\nSet-Cookie: a=b";
  const sayNo = (error: string) => {
    idp.hooks.redirect = ({ state = "" }) => ({
      state,
      error,
      error_description: description,
      error_uri: "https://marker.example",
    });
  };

  test.each([
    "access_denied",
    "login_required",
    "interaction_required",
    "consent_required",
    "account_selection_required",
    "temporarily_unavailable",
    "server_error",
    "invalid_request",
    "unauthorized_client",
    "unsupported_response_type",
    "invalid_scope",
  ])(
    "303 %s goes to the storefront; its description is in the record alone, on one line (N98)",
    async (error) => {
      sayNo(error);
      const answer = await end(await begin());
      const known: Record<string, SignOnReason> = {
        invalid_scope: "idp_error.scope",
        unauthorized_client: "idp_error.flow_off",
        unsupported_response_type: "idp_error.flow_off",
      };
      const reason = known[error] ?? "idp_error";
      expect(redirectOf(answer)).toEqual(refusalFor(reason, { error }));
      const record = await f.recordOf(redirectOf(answer).reference ?? "");
      expect(record).toMatchObject({
        reason,
        error,
        idp_answer: {
          call: "authorize",
          status: null,
          fault: null,
          error,
          error_description: "marker <script>alert(1)</script>\ufffd\ufffdSet-Cookie: a=b",
        },
      });
      expect(JSON.stringify(record)).not.toContain("marker.example");
      expect(JSON.stringify([f.latchkey.logLines, [...answer.headers]])).not.toContain("marker");
      expect(idp.asked("/token")).toBe(0);
    },
  );

  test.each([
    ["markup", "<script>alert('marker')</script>"],
    ["a header", "access_denied\r\nSet-Cookie: marker=1"],
    ["capitals", "ACCESS_DENIED"],
    ["a space behind it", "access_denied "],
    ["an unknown code", "marker_error"],
    ["a code of Latchkey's own", "callback_replay"],
    ["a code of the token endpoint", "invalid_grant"],
    ["a member of every object", "constructor"],
    ["five thousand characters", "marker".repeat(800)],
  ])("303 server_error for %s as error code (N99)", async (_, error) => {
    sayNo(error);
    const answer = await end(await begin());
    expect(redirectOf(answer)).toEqual(refusalFor("idp_error", { error: "server_error" }));
    const { error: shown, idp_answer } = await f.recordOf(redirectOf(answer).reference ?? "");
    expect(shown).toBe("server_error");
    expect(idp_answer.error).toMatch(/^\P{C}{1,100}$/u);
    expect(JSON.stringify([f.latchkey.logLines, [...answer.headers]])).not.toContain("marker");
  });

  test("414 for ten thousand characters; the same sign-on can still succeed (N99)", async () => {
    const begun = await begin();
    const answer = await end({ ...begun, back: `${begun.back}&error=${"marker".repeat(1700)}` });
    expect([answer.status, answer.code]).toEqual([414, "url_too_long"]);
    expect(answer.body).not.toContain("marker");
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
  });

  test("beside a code counts; an empty error does not (R5, R86)", async () => {
    idp.hooks.redirect = (parameters) => ({ ...parameters, error: "login_required" });
    expect(redirectOf(await end(await begin()))).toEqual(
      refusalFor("idp_error", { error: "login_required" }),
    );
    expect(idp.asked("/token")).toBe(0);
    idp.hooks.redirect = (parameters) => ({ ...parameters, error: "" });
    expect(redirectOf(await end(await begin()))).toEqual(codeRedirect());
  });

  test("login_required after prompt=none goes to the storefront (2.6 prompt-none-not-logged-in)", async () => {
    idp.hooks.redirect = ({ state = "" }) => ({ state, error: "login_required" });
    const begun = await begin(newBrowser(), { prompt: "none" });
    expect(new URL(begun.location).searchParams.get("prompt")).toBe("none");
    expect(redirectOf(await end(begun))).toEqual(refusalFor("idp_error", { error: "login_required" }));
  });
});
