import { generateKeyPairSync, sign } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listEvents } from "../../src/contract/events.ts";
import { approveDrift, checkProfile, getProfile } from "../../src/contract/oidc-profiles.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";

/** An administrator checks a provider: the answer has the pending change, and the evidence of sign-ons. */

let idp: HostileIdp;
let second: HostileIdp;
let f: Federation;

beforeEach(async () => {
  idp = await startHostileIdp();
  second = await startHostileIdp();
  f = await createFederation({ idp, allowedOrigins: [idp.origin, second.origin] });
});
afterEach(async () => {
  await f.close();
  await idp.close();
  await second.close();
});

const ids = () => ({ realm: f.realmId, id: f.profileId });
const check = async () => {
  await f.latchkey.app.tidy();
  return (await f.store.call(checkProfile, { ids: ids() })).body.data;
};
const statusOf = async (id: string) => (await check()).checks.find((one: { id: string }) => one.id === id);
const meta = async () => (await f.store.call(getProfile, { ids: ids() })).body.data.meta;
const drifts = async () => {
  await f.latchkey.app.tidy();
  return (await f.store.call(listEvents, { query: "types=oidc_profile.drift_detected" })).body.data;
};
const moveTokenEndpoint = () => {
  idp.hooks.discovery = (document) => ({ ...document, token_endpoint: `${second.origin}/token` });
};
const changeIssuer = () => {
  idp.hooks.discovery = (document) => ({ ...document, issuer: "https://moved.example/realm" });
};

describe("an endpoint on another host", () => {
  test("is a pending change in the answer and the profile; all requirements are met", async () => {
    moveTokenEndpoint();
    const report = await check();
    const missed = report.checks.filter(({ status }: { status: string }) => status === "not_met");
    expect(missed).toEqual([]);
    expect(report.meta.pending_change).toMatchObject({
      changes: [{ member: "token_endpoint", before: `${idp.origin}/token`, after: `${second.origin}/token` }],
    });
    expect(report.warnings).toContainEqual(
      `Its document has changed: token_endpoint was ${idp.origin}/token and is ${second.origin}/token. Latchkey goes by the approved document until an administrator approves the new one, so sign-ons can fail (meta.pending_change).`,
    );
    expect((await meta()).pending_change).toEqual(report.meta.pending_change);
    expect((await f.signOn()).code).not.toBe("");
    expect(second.asked("/token")).toBe(0);
  });

  test("is what an approval takes, and notes one event for any number of checks", async () => {
    moveTokenEndpoint();
    const [first, again] = [await check(), await check()];
    expect(again.meta).toEqual(first.meta);
    expect(await drifts()).toHaveLength(1);
    const data = { type: "oidc-profile", digest: first.meta.pending_change.digest };
    expect((await f.store.call(approveDrift, { ids: ids(), json: { data } })).status).toBe(200);
    const { meta: since, warnings } = await check();
    expect(since).toEqual({ pending_change: null, issuer_found: null });
    expect(warnings.join()).not.toContain("has changed");
  });

  test("is no longer pending when a check finds the approved document again", async () => {
    moveTokenEndpoint();
    await check();
    idp.hooks = {};
    expect((await check()).meta.pending_change).toBeNull();
    expect((await meta()).pending_change).toBeNull();
  });
});

describe("another issuer", () => {
  test("shows in R1, in the answer's meta and on the profile, with the time it was found", async () => {
    changeIssuer();
    const report = await check();
    expect(report.checks[0]).toMatchObject({ id: "R1", status: "not_met" });
    const found = {
      issuer: "https://moved.example/realm",
      since: new Date(f.latchkey.clock.now()).toISOString(),
    };
    expect(report.meta).toEqual({ pending_change: null, issuer_found: found });
    expect((await meta()).issuer_found).toEqual(found);
    expect(report.warnings.join()).toContain("names the issuer https://moved.example/realm");
    await check();
    expect(await drifts()).toHaveLength(1);
    idp.hooks = {};
    expect((await check()).meta.issuer_found).toBeNull();
  });

  test("no longer shows once the provider's document is the pending one", async () => {
    moveTokenEndpoint();
    const { pending_change } = (await check()).meta;
    changeIssuer();
    expect((await check()).meta).toMatchObject({ pending_change, issuer_found: expect.anything() });
    moveTokenEndpoint();
    expect((await check()).meta).toEqual({ pending_change, issuer_found: null });
  });
});

test("an unreadable document keeps the pending change", async () => {
  moveTokenEndpoint();
  const { pending_change } = (await check()).meta;
  idp.hooks.answer = {
    "/.well-known/openid-configuration": (_, response) => void response.writeHead(503).end(),
  };
  expect((await check()).meta).toEqual({ pending_change, issuer_found: null });
});

describe("R1 after a refused sign-on", () => {
  const refused = async () => {
    f.latchkey.clock.advance(1000);
    const record = await f.recordOf((await f.signOn()).reference);
    f.latchkey.clock.advance(1000);
    return record;
  };
  const works = async () => {
    f.latchkey.clock.advance(1000);
    idp.hooks = {};
    idp.person = { ...ADA };
    expect((await f.signOn()).code).not.toBe("");
    f.latchkey.clock.advance(1000);
  };

  test("for its algorithm is not met, with both algorithms, until a sign-on works", async () => {
    await works();
    expect(await statusOf("R1")).toMatchObject({ status: "met" });
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    idp.hooks.token = (answer) => {
      const [, payload] = String(answer.id_token).split(".");
      const header = Buffer.from('{"alg":"RS512","kid":"key-1"}').toString("base64url");
      const signature = sign("sha512", Buffer.from(`${header}.${payload}`), privateKey);
      return { ...answer, id_token: `${header}.${payload}.${signature.toString("base64url")}` };
    };
    expect((await refused()).reason).toBe("id_token.alg");
    expect(await statusOf("R1")).toMatchObject({
      status: "not_met",
      evidence: expect.stringMatching(
        /^The ID token is signed with an algorithm.* Expected: ES256; found: RS512\. Seen at 20/,
      ),
      remedy: expect.stringContaining("Sign with RS256, PS256, ES256 or EdDSA"),
    });
    await works();
    expect(await statusOf("R1")).toMatchObject({
      status: "met",
      evidence: expect.stringContaining("The document is complete"),
    });
  });

  test.each<[string, HostileIdp["hooks"], string]>([
    ["a key that is not in its set", { header: { kid: "unknown" } }, "id_token.key"],
    [
      "another issuer in the token",
      { claims: (own) => ({ ...own, iss: "https://evil.example" }) },
      "id_token.iss",
    ],
    ["no time of issue", { claims: ({ iat: _, ...own }) => own }, "id_token.iat"],
    ["a nonce that is not repeated", { claims: ({ nonce: _, ...own }) => own }, "id_token.nonce"],
    ["no ID token", { token: ({ id_token: _, ...answer }) => answer }, "id_token.missing"],
    ["another type of token", { token: (answer) => ({ ...answer, token_type: "mac" }) }, "token.type"],
  ])("for %s is not met", async (_, hooks, reason) => {
    idp.hooks = hooks;
    expect((await refused()).reason).toBe(reason);
    expect(await statusOf("R1")).toMatchObject({ status: "not_met", remedy: expect.stringMatching(/./) });
  });

  test("does not hide another requirement that was missed before", async () => {
    idp.person = { sub: ADA.sub };
    expect((await refused()).reason).toBe("claims.email_missing");
    idp.hooks.header = { kid: "unknown" };
    expect((await refused()).reason).toBe("id_token.key");
    const { checks } = await check();
    const missed = checks.filter(({ status }: { status: string }) => status === "not_met");
    expect(missed.map(({ id }: { id: string }) => id)).toEqual(["R1", "R4"]);
  });
});
