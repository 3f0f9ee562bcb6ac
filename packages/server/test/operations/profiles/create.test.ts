import { describe, expect, test } from "vitest";
import { checkProfile, listProfiles } from "../../../src/contract/oidc-profiles.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import {
  create,
  created,
  given,
  idp,
  latchkey,
  profilesOfAStore,
  read,
  realm,
  store,
  update,
} from "./profiles.ts";

/** A profile is created: its client id and its discovery document are checked. */

profilesOfAStore();

describe("the creation of a profile", () => {
  test("201 reads the discovery document and gives the links (seed 4.2)", async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    const { id } = body.data;
    const signOn = `${PUBLIC_URL}/sign-on/stores/${store.store.id}/realms/${realm}`;
    expect(body.links).toEqual({
      self: `${PUBLIC_URL}/v2/authentication-realms/${realm}/oidc-profiles/${id}`,
      "authorization-endpoint": `${signOn}/authorize?profile=${id}`,
      "callback-endpoint": `${signOn}/profiles/${id}/callback`,
      "client-discovery-url": `${signOn}/.well-known/openid-configuration`,
      "backchannel-logout-endpoint": `${signOn}/profiles/${id}/backchannel-logout`,
      "signed-out-endpoint": `${signOn}/profiles/${id}/signed-out`,
    });
    expect(body.data).toMatchObject({ enabled: true, flow: "brokered", provisioning: "create" });
    expect(body.data.meta).toMatchObject({
      issuer: idp.origin,
      health: { status: "up" },
      pending_change: null,
    });
  });

  test("201 with a trailing slash in the path, an empty id and null relationships", async () => {
    const json = { data: { ...given(), id: "", relationships: null } };
    const answer = await latchkey.app.fetch(
      new Request(`http://internal/v2/authentication-realms/${realm}/oidc-profiles/`, {
        method: "POST",
        headers: { authorization: `Bearer ${await store.token()}`, "content-type": "application/json" },
        body: JSON.stringify(json),
      }),
    );
    expect(answer.status).toBe(201);
  });

  test("201 with the issuer's address as discovery URL", async () => {
    expect((await create({ discovery_url: idp.origin })).status).toBe(201);
  });

  test.each(["my store", " my store ", "!~"])(
    "201 with the client id %j: any printable ASCII, spaces included",
    async (id) => {
      const { status, body } = await create({ client_id: id });
      expect([status, body.data.client_id]).toEqual([201, id]);
    },
  );

  test.each(["", " ", "Größe", "a\tb", "a\u007f"])("400 for the client id %j", async (id) => {
    expect((await create({ client_id: id })).code).toBe("member_invalid");
  });

  const broken: [string, string, (document: Record<string, unknown>) => object][] = [
    ["R1", "another issuer (N50)", (d) => ({ ...d, issuer: `${d.issuer}INVALID` })],
    [
      "R1",
      "an issuer in other case (N51)",
      (d) => ({ ...d, issuer: String(d.issuer).replace("http", "HTTP") }),
    ],
    ["R1", "an issuer with a path (N51)", (d) => ({ ...d, issuer: `${d.issuer}/x` })],
    ["R1", "no token endpoint", ({ token_endpoint: _, ...d }) => d],
    ["R1", "an array for an endpoint (N60)", (d) => ({ ...d, token_endpoint: ["x"] })],
    [
      "R1",
      "an endpoint at the metadata address (N58)",
      (d) => ({ ...d, userinfo_endpoint: "http://169.254.169.254/" }),
    ],
    ["R1", "an endpoint with a password (N58)", (d) => ({ ...d, jwks_uri: "https://a:b@idp.example/" })],
    [
      "R1",
      "only symmetric signatures",
      (d) => ({ ...d, id_token_signing_alg_values_supported: ["HS256", "none"] }),
    ],
    [
      "R2",
      "no client_secret_basic",
      (d) => ({ ...d, token_endpoint_auth_methods_supported: ["client_secret_post"] }),
    ],
    ["R3", "no code flow", (d) => ({ ...d, response_types_supported: ["id_token"] })],
    ["R3", "no code grant", (d) => ({ ...d, grant_types_supported: ["implicit"] })],
  ];

  test.each(broken)("422 names %s for %s; no profile is saved", async (requirement, _, hook) => {
    idp.hooks.discovery = hook;
    const answer = await create();
    expect([answer.status, answer.code]).toEqual([422, "idp_requirement_not_met"]);
    expect(answer.body.errors[0].meta).toMatchObject({ requirement, remedy: expect.any(String) });
    expect((await store.call(listProfiles, { ids: { realm } })).body.data).toEqual([]);
  });

  test("422 has one error for each requirement that is not met", async () => {
    idp.hooks.discovery = (d) => ({
      ...d,
      response_types_supported: ["id_token"],
      token_endpoint_auth_methods_supported: [],
    });
    const { body } = await create();
    expect(body.errors.map((error: { meta: { requirement: string } }) => error.meta.requirement)).toEqual([
      "R2",
      "R3",
    ]);
  });

  test.each([
    ["scopes", { scopes_supported: ["openid"] }],
    ["claims", { claims_supported: ["sub"] }],
    ["both", { scopes_supported: [], claims_supported: [] }],
  ])("201 where e-mail is not listed among %s: R4 is unknown until the first sign-on", async (_, lists) => {
    idp.hooks.discovery = (d) => ({ ...d, ...lists });
    const { id } = await created();
    const { body } = await store.call(checkProfile, { ids: { realm, id } });
    expect(body.data.checks[3]).toMatchObject({
      id: "R4",
      status: "unknown",
      evidence: expect.stringContaining("checked at the first sign-on"),
    });
  });

  test("201 for a disabled profile whose provider misses requirements; the found issuer is shown", async () => {
    idp.hooks.discovery = (d) => ({ ...d, issuer: "https://elsewhere.example/tenant" });
    const { id } = await created({ enabled: false });
    expect((await read(id)).data.meta).toMatchObject({
      issuer: null,
      issuer_found: { issuer: "https://elsewhere.example/tenant" },
      health: { status: "unknown" },
    });
    expect((await update(id, { enabled: true })).code).toBe("idp_requirement_not_met");
    idp.hooks = {};
    expect((await update(id, { enabled: true })).body.data.meta).toMatchObject({
      issuer: idp.origin,
      issuer_found: null,
      health: { status: "up" },
    });
  });

  test("spaces around the discovery URL are removed", async () => {
    const { status, body } = await create({ discovery_url: `  ${idp.discoveryUrl} \n` });
    expect([status, body.data.discovery_url]).toEqual([201, idp.discoveryUrl]);
  });

  test("a trailing slash of the issuer is kept (ADR 8)", async () => {
    idp.issuer = `${idp.origin}/`;
    expect((await create()).body.data.meta.issuer).toBe(`${idp.origin}/`);
  });

  test.each([
    ["address_not_allowed", "http://idp.example"],
    ["address_not_allowed", "https://127.0.0.1"],
    ["address_not_allowed", "https://localhost"],
    ["address_not_allowed", "not a url"],
    ["status_not_200", "/nothing"],
  ])("422 idp_unreachable with the reason %s for %s (T25)", async (reason, url) => {
    const answer = await create({ discovery_url: url.startsWith("/") ? idp.origin + url : url });
    expect([answer.status, answer.code]).toEqual([422, "idp_unreachable"]);
    expect(answer.body.errors[0].meta).toEqual({ reason });
  });

  test("the provider's text is not in the answer (A50)", async () => {
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) =>
        void response.writeHead(500).end("marker from upstream"),
    };
    expect(JSON.stringify((await create()).body)).not.toContain("marker");
  });

  test("201 for a disabled profile whose provider cannot be reached; a later enabling reads the document", async () => {
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) => void response.writeHead(503).end(),
    };
    const profile = await created({ enabled: false });
    expect((await read(profile.id)).data.meta.issuer).toBeNull();
    expect((await update(profile.id, { enabled: true })).code).toBe("idp_unreachable");
    idp.hooks = {};
    expect((await update(profile.id, { enabled: true })).body.data.meta.issuer).toBe(idp.origin);
  });

  test("422 for a forbidden address, even for a disabled profile", async () => {
    expect((await create({ enabled: false, discovery_url: "https://10.0.0.1" })).code).toBe(
      "idp_unreachable",
    );
  });
});
