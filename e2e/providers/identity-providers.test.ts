import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import Provider from "oidc-provider";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { type HostileIdp, startHostileIdp } from "../../packages/server/test/support/hostile-idp.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import {
  createStore,
  getToken,
  type Made,
  newPlace,
  type Place,
  type Running,
  serve,
} from "../support/running.ts";

/** The honest provider is the package `oidc-provider`, unchanged. */
let honest: Server;
let honestUrl: string;
let hostile: HostileIdp;

beforeAll(async () => {
  const port = await freePort();
  honestUrl = `http://127.0.0.1:${port}`;
  const provider = new Provider(honestUrl, {
    clients: [{ client_id: "store", client_secret: "secret", redirect_uris: ["https://keys.example/cb"] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
  });
  honest = createServer(provider.callback());
  await new Promise<void>((resolve) => honest.listen(port, "127.0.0.1", resolve));
  hostile = await startHostileIdp();
});
afterAll(async () => {
  honest.close();
  await hostile.close();
});

describe("latchkey doctor", () => {
  const doctor = (url: string, ...args: string[]) =>
    latchkey(["doctor", url, ...args], {
      LATCHKEY_EGRESS_ALLOW: `${honestUrl},${hostile.origin}`,
      NO_COLOR: "1",
    });

  test("finds no fault of oidc-provider", async () => {
    const { code, stdout, stderr } = await doctor(honestUrl);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("5 met, 0 not met, 4 checked at the first sign-on");
    expect(stdout).toContain(`issuer   ${honestUrl}`);
  });

  test("writes JSON for programs", async () => {
    const { stdout } = await doctor(honestUrl, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      issuer: honestUrl,
      checks: expect.arrayContaining([expect.objectContaining({ id: "R9" })]),
    });
  });

  test.each([
    ["R1", (d: object) => ({ ...d, issuer: "https://elsewhere.example" }), "must agree exactly"],
    [
      "R2",
      (d: object) => ({ ...d, token_endpoint_auth_methods_supported: ["private_key_jwt"] }),
      "Allow client_secret_basic",
    ],
    ["R3", (d: object) => ({ ...d, require_pushed_authorization_requests: true }), "Do not demand it"],
  ])(
    "explains what is wrong with a provider that misses %s, with the remedy, and fails",
    async (id, hook, remedy) => {
      hostile.hooks.discovery = hook;
      const { code, stdout } = await doctor(hostile.origin);
      hostile.hooks = {};
      expect(code).toBe(1);
      expect(stdout).toMatch(new RegExp(`NOT MET +${id} `));
      expect(stdout).toContain(remedy);
    },
  );

  test("explains why a provider cannot be read", async () => {
    const { code, stdout } = await doctor(`${hostile.origin}/nothing`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/NOT MET +R5 /);
    expect(stdout).toContain("it does not answer 200 (HTTP status 404)");
    expect(stdout).toContain(`${hostile.origin}/nothing/.well-known/openid-configuration could not be read`);
    expect(stdout).toContain("answered nothing that could be read");
    expect(stdout).toContain("0 met, 1 not met, 8 not known without the document");
  });

  test("does not decide what an incomplete list leaves open", async () => {
    hostile.hooks.discovery = (document) => ({ ...document, claims_supported: ["sub"] });
    const { code, stdout } = await doctor(` ${hostile.origin} `);
    hostile.hooks = {};
    expect(code).toBe(0);
    expect(stdout).toMatch(/later +R4 /);
    expect(stdout).toContain("checked at the first sign-on");
  });

  test("shows the found issuer, and the provider's name and console when it recognises the provider", async () => {
    hostile.hooks.discovery = (document) => ({
      ...document,
      authorization_endpoint: `${hostile.origin}/realms/shop/protocol/openid-connect/auth`,
      response_types_supported: ["id_token"],
    });
    const { stdout } = await doctor(hostile.origin);
    hostile.hooks.discovery = (document) => ({ ...document, issuer: "https://elsewhere.example/realm" });
    const other = await doctor(hostile.origin);
    hostile.hooks = {};
    expect(stdout).toContain("provider Keycloak: docs/guides/providers/keycloak.md");
    expect(stdout).toContain(
      "In Keycloak: Clients → your client → Settings → Capability config: Standard flow on",
    );
    expect(other.stdout).toContain("names the issuer https://elsewhere.example/realm");
  });

  test("does not request private addresses without the option for them", async () => {
    const { stdout } = await latchkey(["doctor", honestUrl], { NO_COLOR: "1" });
    expect(stdout).toContain("its address is not allowed");
    expect(stdout).toContain(`LATCHKEY_EGRESS_ALLOW=${honestUrl}`);
  });
});

describe("the master key", () => {
  let place: Place;
  let running: Running;
  let made: Made;

  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64url")) as [
    string,
    string,
  ];
  const start = async (masterKey: string) => {
    place.env.LATCHKEY_MASTER_KEY = masterKey;
    running = await serve(place);
  };
  const stop = async () => {
    running.child.kill("SIGTERM");
    await running.exited;
  };

  beforeAll(async () => {
    place = await newPlace();
    place.env.LATCHKEY_EGRESS_ALLOW = honestUrl;
    await start(oldKey);
    made = await createStore(place);
    const headers = {
      authorization: `Bearer ${await getToken(place.url, made)}`,
      "content-type": "application/json",
    };
    const settings = await (
      await fetch(`${place.url}/v2/customer-authentication-settings`, { headers })
    ).json();
    const { realm_id } = (settings as { data: { realm_id: string } }).data;
    const data = {
      type: "oidc-profile",
      name: "Honest",
      discovery_url: honestUrl,
      client_id: "store",
      client_secret: "secret",
    };
    const url = `${place.url}/v2/authentication-realms/${realm_id}/oidc-profiles`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ data }) });
    expect(answer.status).toBe(201);
    await stop();
  });
  afterAll(() => place.leave());

  test("removed too early: the service refuses to start and names the missing key (T53)", async () => {
    const { code, stderr } = await latchkey(["serve"], { ...place.env, LATCHKEY_MASTER_KEY: newKey });
    expect(code).toBe(1);
    expect(stderr).toContain("sealed with a master key that is not in LATCHKEY_MASTER_KEY");
    const rotated = await latchkey(["rotate-keys"], { ...place.env, LATCHKEY_MASTER_KEY: newKey });
    expect(rotated.stderr).toContain("cannot be opened with these master keys");
  });

  test("replaced in order: both, rotate-keys beside the running service, then the new one alone (T53)", async () => {
    await start(`${newKey},${oldKey}`);
    const rotate = () => latchkey(["rotate-keys"], place.env);
    expect((await rotate()).stdout).toContain("sealed anew: 3");
    expect((await rotate()).stdout).toContain("sealed anew: 0; already under the first key: 3");
    await stop();
    await start(newKey);
    await stop();
  });
});
