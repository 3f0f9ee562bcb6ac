import { describe, expect, test } from "vitest";
import { type SignOnReason, signOnReasonEntry } from "../../../src/contract/sign-on-reasons.ts";
import { ADA, type Hooks } from "../../support/hostile-idp.ts";
import { redirectOf } from "../../support/redirects.ts";
import {
  begin,
  callbackJourneys,
  changeProfile,
  codeRedirect,
  end,
  f,
  idp,
  newCustomer,
  people,
  REREAD_MS,
  refusalFor,
  removeProfile,
  rowsOf,
  STATE,
  withOwnFederation,
} from "./journey.ts";

/** A table of faults: each ends the sign-on with its reason and changes nothing else. */

callbackJourneys();

/**
 * For each fault: the redirect has the reason, the storefront's state and iss, and no code. The provider gets no more
 * requests, no customer changes, the attempt is over, a record has the reason and no secret, the next sign-on works.
 */
describe("a fault at the provider › the sign-on ends with 303 and its reason", () => {
  const ACCESS_TOKEN = "access-token-of-the-provider";
  /** The reason, the fault, and the paths that the provider is asked for in the whole sign-on. */
  type Fault = [reason: SignOnReason, what: string, asked: string[], hooks: Hooks, more?: More];
  type More = {
    error?: string;
    before?: () => unknown;
    /** Runs between authorize and callback. */
    meanwhile?: () => unknown;
    back?: (url: string) => string;
    /** The administrator's repair, before the next sign-on. */
    mend?: () => unknown;
    /** The profile of the next sign-on, if it is another one. */
    profileAfter?: () => Promise<string>;
  };

  /**
   * The paths that the provider is asked for. Leaves out background reads of old documents: the metadata and the keys
   * behind it, and keys before the first token request, which belong to a read that began earlier.
   */
  function requestedPaths(): string[] {
    const paths = idp.journal.map(({ path }) => path);
    for (;;) {
      const at = paths.indexOf("/.well-known/openid-configuration");
      if (at === -1) break;
      const keysAt = paths.indexOf("/keys", at);
      if (keysAt !== -1) paths.splice(keysAt, 1);
      paths.splice(at, 1);
    }
    return paths[0] === "/keys" ? paths.slice(1) : paths;
  }

  async function expectFault(
    reason: SignOnReason,
    asked: string[],
    hooks: Hooks,
    more: More = {},
  ): Promise<void> {
    const { error = signOnReasonEntry(reason).error } = more;
    await more.before?.();
    const issued: string[] = [];
    const { token: change = (own: object) => own } = hooks;
    idp.hooks = {
      ...hooks,
      token: (own, form) => {
        issued.push(String(own.id_token));
        return change({ ...own, access_token: ACCESS_TOKEN }, form);
      },
    };
    idp.journal.length = 0;
    const begun = await begin();
    await more.meanwhile?.();
    const back = more.back?.(begun.back) ?? begun.back;
    const before = await people();

    const answer = await end({ ...begun, back });
    expect(answer.status).toBe(303);
    expect(redirectOf(answer)).toEqual(refusalFor(reason, { error }));
    const { reference = "" } = redirectOf(answer);
    expect(requestedPaths()).toEqual(asked);
    expect(await people()).toEqual(before);
    expect(await rowsOf("sign_on_attempts")).toEqual([
      expect.objectContaining({ state: "failed", code_expires_at: null, identity: null, token_id: null }),
    ]);

    const sent = new URLSearchParams(idp.journal.find(({ path }) => path === "/token")?.body);
    const atIdp = new URL(begun.location).searchParams;
    const secrets = [
      new URLSearchParams(begun.back.split("?")[1]).get("code"),
      sent.get("code_verifier"),
      atIdp.get("state"),
      atIdp.get("nonce"),
      begun.browser.cookie,
      ...issued.flatMap((token) => (token === "undefined" ? [] : [token, token.split(".")[2]])),
      ACCESS_TOKEN,
      STATE,
      "first secret",
    ].filter((text): text is string => text !== undefined && text !== null && text !== "");
    expect(secrets.length).toBeGreaterThanOrEqual(6);

    for (const _ of ["with the same fault", "with an honest answer"]) {
      expect(redirectOf(await end({ ...begun, back }))).toEqual(refusalFor("callback_replay", { reference }));
      idp.hooks = {};
    }
    expect(requestedPaths()).toEqual(asked);

    const { means, remedy } = signOnReasonEntry(reason);
    expect(await f.records()).toHaveLength(1);
    const record = await f.recordOf(reference);
    expect(record).toMatchObject({ outcome: "failed", reason, error, means, remedy, customer_id: null });
    expect(record.realm_id).toBe(f.realmId);
    expect(f.latchkey.logLines).toContainEqual(expect.objectContaining({ reference, reason, status: 303 }));
    const written = JSON.stringify([record, f.latchkey.logLines]);
    for (const secret of secrets) expect(written).not.toContain(secret);

    await more.mend?.();
    const profile = (await more.profileAfter?.()) ?? f.profileId;
    const next = await f.signOn({ parameters: { profile } });
    expect(redirectOf(next.answer)).toEqual(codeRedirect());
    expect((await f.redeem(next)).status).toBe(200);
  }

  const json = { "Content-Type": "application/json" };
  const says = (path: string, status: number, body = "", headers: Record<string, string> = json): Hooks => ({
    answer: { [path]: (_, response) => void response.writeHead(status, headers).end(body) },
  });
  const redirect = (change: NonNullable<Hooks["redirect"]>): Hooks => ({ redirect: change });
  const claims = (changes: Record<string, unknown>): Hooks => ({ claims: (own) => ({ ...own, ...changes }) });
  const shifted = (name: string, seconds: number): Hooks => ({
    claims: (own) => ({ ...own, [name]: Number(own.iat) + seconds }),
  });
  const without = (name: string): Hooks => ({ claims: ({ [name]: _, ...own }) => own });
  const tokens = (changes: Record<string, unknown>): Hooks => ({ token: (own) => ({ ...own, ...changes }) });
  const forged = (change: (parts: string[]) => string[]): Hooks => ({
    token: (own) => ({ ...own, id_token: change(String(own.id_token).split(".")).join(".") }),
  });
  const turned = (signature = "") =>
    Buffer.from(Buffer.from(signature, "base64url").map((byte) => byte ^ 0x5a)).toString("base64url");
  const changed = (payload = "") => {
    const own = JSON.parse(Buffer.from(payload, "base64url").toString());
    return Buffer.from(JSON.stringify({ ...own, sub: "admin" })).toString("base64url");
  };
  const noEmail = without("email");
  const reread = () => f.latchkey.clock.advance(REREAD_MS);
  const saysIss: Hooks = {
    discovery: (own) => ({ ...own, authorization_response_iss_parameter_supported: true }),
  };
  const breaksOff: Hooks = {
    answer: {
      "/token": (_, response) => {
        response.writeHead(200, { ...json, "Content-Length": "100" });
        response.write("{", () => response.destroy());
      },
    },
  };
  const html = { "Content-Type": "text/html" };
  const jwt = { "Content-Type": "application/jwt" };
  const bringsKey = { kid: "mine", jwk: { kty: "EC" }, jku: "https://evil.example/keys" };
  const twoEmails = ["ada@shop.example", "evil@example.com"];
  const elsewhere = (own: Record<string, string>) => ({ ...own, iss: "https://evil.example" });
  const twoIssuers = (url: string) => `${url}&iss=${encodeURIComponent(idp.issuer)}&iss=evil`;
  const [NOTHING, TOKEN, KEYS, USERINFO] = [[], ["/token"], ["/token", "/keys"], ["/token", "/userinfo"]];

  const faults: Fault[] = [
    ["response.iss_mismatch", "another issuer (N92)", NOTHING, redirect(elsewhere)],
    ["response.iss_missing", "no issuer (N93, A23)", NOTHING, saysIss, { before: reread, mend: reread }],
    ["response.code_missing", "no code", NOTHING, redirect(({ state = "" }) => ({ state }))],
    ["response.code_missing", "an empty code", NOTHING, redirect((own) => ({ ...own, code: "" }))],
    [
      "response.code_missing",
      "5 KB of code",
      NOTHING,
      redirect((own) => ({ ...own, code: "c".repeat(5000) })),
    ],
    ["response.parameter_repeated", "two codes", NOTHING, {}, { back: (url) => `${url}&code=evil` }],
    ["response.parameter_repeated", "two errors", NOTHING, {}, { back: (url) => `${url}&error=a&error=b` }],
    ["response.parameter_repeated", "two issuers", NOTHING, {}, { back: twoIssuers }],
    [
      "idp_error",
      "a refusal (N98)",
      NOTHING,
      redirect(({ state = "" }) => ({ state, error: "access_denied" })),
      { error: "access_denied" },
    ],
    [
      "idp_error",
      "an odd refusal (N99)",
      NOTHING,
      redirect(({ state = "" }) => ({ state, error: "<evil>" })),
    ],
    ["token.refused", "400 invalid_grant (N74)", TOKEN, says("/token", 400, '{"error":"invalid_grant"}')],
    ["token.refused", "an error with 200 (N74)", TOKEN, { token: () => ({ error: "x" }) }],
    ["token.client_refused", "401 (N74)", TOKEN, says("/token", 401, '{"error":"invalid_client"}')],
    ["token.client_refused", "400 invalid_client", TOKEN, says("/token", 400, '{"error":"invalid_client"}')],
    ["token.unavailable", "500", TOKEN, says("/token", 500)],
    ["token.unavailable", "a redirect (N59)", TOKEN, says("/token", 307, "", { Location: "/keys" })],
    ["token.unavailable", "HTML (N75)", TOKEN, says("/token", 200, "<html>", html)],
    ["token.unavailable", "an empty body (N75)", TOKEN, says("/token", 200)],
    ["token.unavailable", "half of a JSON (N75)", TOKEN, says("/token", 200, '{"a":')],
    ["token.unavailable", "100 KB (N75)", TOKEN, says("/token", 200, `{"a":"${"x".repeat(100_000)}"}`)],
    ["token.unavailable", "a reset in the middle (N75)", TOKEN, breaksOff],
    ["token.type", "another token type (R91)", TOKEN, tokens({ token_type: "mac" })],
    ["token.type", "no token type", TOKEN, tokens({ token_type: undefined })],
    ["id_token.missing", "no ID token (N73)", TOKEN, tokens({ id_token: undefined })],
    ["id_token.missing", "null for an ID token (N73)", TOKEN, tokens({ id_token: null })],
    ["id_token.missing", "an object for an ID token (N73)", TOKEN, tokens({ id_token: { a: 1 } })],
    ["id_token.encrypted", "five parts (N37, R92)", TOKEN, tokens({ id_token: "a.b.c.d.e" })],
    ["id_token.malformed", "two parts (N38)", TOKEN, tokens({ id_token: "a.b" })],
    [
      "id_token.malformed",
      "a space behind it (N38)",
      TOKEN,
      forged(([a, b, c]) => [`${a}`, `${b}`, `${c} `]),
    ],
    ["id_token.alg", "no signature (N25)", TOKEN, { header: { alg: "none" } }],
    ["id_token.alg", "HS256 (N22)", TOKEN, { header: { alg: "HS256" } }],
    ["id_token.alg", "an algorithm that is not listed (N27)", TOKEN, { header: { alg: "RS256" } }],
    [
      "id_token.key",
      "an unknown key, after one more read of the keys (N32)",
      KEYS,
      { header: { kid: "unknown" } },
    ],
    ["id_token.key", "a key in the token's own header (N34, N35)", KEYS, { header: bringsKey }],
    [
      "id_token.keys_unread",
      "an unknown key while the keys cannot be read",
      KEYS,
      { header: { kid: "unknown" }, ...says("/keys", 503) },
    ],
    [
      "id_token.signature",
      "another signature (N20, R96)",
      KEYS,
      forged(([a, b, c]) => [`${a}`, `${b}`, turned(c)]),
    ],
    ["id_token.signature", "other claims (N20)", KEYS, forged(([a, b, c]) => [`${a}`, changed(b), `${c}`])],
    ["id_token.iss", "another issuer (N01)", TOKEN, claims({ iss: "https://evil.example" })],
    ["id_token.iss", "no issuer (N02)", TOKEN, without("iss")],
    ["id_token.aud", "another audience (N04)", TOKEN, claims({ aud: "the-store1" })],
    ["id_token.aud", "no audience (N05)", TOKEN, without("aud")],
    ["id_token.aud", "a second audience (N06)", TOKEN, claims({ aud: ["the-store", "x"] })],
    [
      "id_token.aud",
      "a second audience with the own azp (N07)",
      TOKEN,
      claims({ aud: ["the-store", "x"], azp: "the-store" }),
    ],
    ["id_token.azp", "the azp of a stranger (N08)", TOKEN, claims({ azp: "stranger" })],
    ["id_token.exp", "expired (N14)", TOKEN, shifted("exp", -360)],
    ["id_token.exp", "no exp (N13)", TOKEN, without("exp")],
    ["id_token.exp", "exp as a text (N16)", TOKEN, claims({ exp: "4102444800" })],
    ["id_token.iat", "no iat (N10)", TOKEN, without("iat")],
    ["id_token.iat", "issued a week ago (N11)", TOKEN, shifted("iat", -604_800)],
    ["id_token.iat", "issued in ten minutes (N12)", TOKEN, shifted("iat", 600)],
    ["id_token.nbf", "nbf in ten minutes (N17)", TOKEN, shifted("nbf", 600)],
    ["id_token.nonce", "another nonce (N18)", TOKEN, claims({ nonce: "evil" })],
    ["id_token.nonce", "no nonce (N19, A23, R101)", TOKEN, without("nonce")],
    ["id_token.nonce", "an empty nonce (A23)", TOKEN, claims({ nonce: "" })],
    ["id_token.sub", "no subject (N03, A05)", TOKEN, without("sub")],
    ["id_token.sub", "an empty subject (N41, A05)", TOKEN, claims({ sub: "" })],
    ["id_token.sub", "a number (N41)", TOKEN, claims({ sub: 7 })],
    ["id_token.sub", "256 characters (N41)", TOKEN, claims({ sub: "s".repeat(256) })],
    ["id_token.sub", "a null byte (N41)", TOKEN, claims({ sub: "a\0b" })],
    ["id_token.at_hash", "another access token (N42)", TOKEN, claims({ at_hash: "evil" })],
    ["userinfo.unavailable", "500 (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 500) }],
    ["userinfo.unavailable", "401 (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 401, "{}") }],
    ["userinfo.malformed", "signed (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 200, "a.b.c", jwt) }],
    ["userinfo.malformed", "a list (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 200, "[]") }],
    [
      "userinfo.sub",
      "another subject (N78)",
      USERINFO,
      { ...noEmail, userinfo: () => ({ ...ADA, sub: "evil" }) },
    ],
    ["userinfo.sub", "no subject (N79)", USERINFO, { ...noEmail, userinfo: () => ({ email: ADA.email }) }],
    ["claims.email_missing", "no e-mail anywhere (N81)", USERINFO, noEmail],
    [
      "claims.email_invalid",
      "two e-mails in one text (N84, A08)",
      TOKEN,
      claims({ email: twoEmails.join(",") }),
    ],
    ["claims.email_invalid", "a list of e-mails (N84)", TOKEN, claims({ email: twoEmails })],
  ];

  test.each(faults)("%s: %s", async (reason, _, asked, hooks, more) => {
    await expectFault(reason, asked, hooks, more);
  });

  describe("a fault in the store's settings", () => {
    withOwnFederation();
    const policy = (duplicate_email_policy: string) => f.changeRealm({ duplicate_email_policy });
    const withCustomers = (count: number, then: () => Promise<unknown>) => async () => {
      for (let made = 0; made < count; made++) await newCustomer();
      await then();
    };
    const toDirect = { flow: "direct", client_id: "customers", client_secret: "first secret" };

    const settingsFaults: Fault[] = [
      [
        "email_taken",
        "a taken e-mail, under disallowed (T21)",
        TOKEN,
        {},
        { before: withCustomers(1, () => policy("disallowed")), mend: () => policy("allowed") },
      ],
      [
        "email_unverified",
        "an e-mail that the provider has not verified (T21, A02, N83)",
        TOKEN,
        claims({ email_verified: "true" }),
        { before: withCustomers(1, () => policy("api_only")) },
      ],
      [
        "several_matches",
        "an e-mail of several customers (A02)",
        TOKEN,
        {},
        { before: withCustomers(2, () => policy("api_only")), mend: () => policy("allowed") },
      ],
      [
        "provisioning_off",
        "a new person, where the profile admits existing customers only",
        TOKEN,
        {},
        {
          before: () => changeProfile({ provisioning: "existing" }),
          mend: () => changeProfile({ provisioning: "create" }),
        },
      ],
      [
        "profile_disabled",
        "a profile that was disabled during the sign-on (T24, A09)",
        NOTHING,
        {},
        {
          meanwhile: () => changeProfile({ enabled: false }),
          mend: () => changeProfile({ enabled: true }),
        },
      ],
      [
        "profile_disabled",
        "a profile that was deleted during the sign-on (T24)",
        NOTHING,
        {},
        { meanwhile: () => removeProfile(), profileAfter: () => f.addProfile() },
      ],
      [
        "profile_direct",
        "a profile that was switched to the direct flow during the sign-on",
        NOTHING,
        {},
        {
          meanwhile: () => changeProfile(toDirect),
          mend: () => changeProfile({ flow: "brokered" }),
        },
      ],
    ];

    test.each(settingsFaults)("%s: %s", async (reason, _, asked, hooks, more) => {
      await expectFault(reason, asked, hooks, more);
    });

    test("the two tables together have more than 25 reasons", () => {
      expect(new Set([...faults, ...settingsFaults].map(([reason]) => reason)).size).toBeGreaterThan(25);
    });
  });
});

describe("a provider's answer with a harmless difference › the sign-on works", () => {
  test.each<[string, Hooks]>([
    ["an audience in a list of one (N09)", { claims: (own) => ({ ...own, aud: ["the-store"] }) }],
    ["azp with the own client id", { claims: (own) => ({ ...own, azp: "the-store" }) }],
    ["the token type in other letters (N71)", { token: (own) => ({ ...own, token_type: "bEARER" }) }],
    ["no expires_in (N72)", { token: ({ expires_in: _, ...own }) => own }],
    [
      "a token that expired thirty seconds ago (N15)",
      { claims: (own) => ({ ...own, exp: Number(own.iat) - 30 }) },
    ],
    ["a header without a kid, with one key (N29)", { header: { kid: undefined } }],
    [
      "unknown parameters in the redirect",
      { redirect: (own) => ({ ...own, session_state: "x", scope: "openid" }) },
    ],
    [
      "the e-mail in UserInfo only (N80)",
      { claims: ({ email: _, ...own }) => own, userinfo: (own) => ({ ...own, email: "ada@shop.example" }) },
    ],
  ])("%s", async (_, hooks) => {
    idp.hooks = hooks;
    expect(redirectOf(await end(await begin()))).toEqual(codeRedirect());
  });

  test("a signing key that was replaced during the sign-on (N53, N54)", async () => {
    const begun = await begin();
    idp.rotateKey();
    idp.journal.length = 0;
    expect(redirectOf(await end(begun))).toEqual(codeRedirect());
    expect(idp.journal.map(({ path }) => path)).toEqual(["/token", "/keys"]);
  });
});
