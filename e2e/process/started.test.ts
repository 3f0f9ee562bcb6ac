import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bothEngines, type TestDatabase } from "../../packages/server/test/support/engines.ts";
import { newPkce } from "../../packages/server/test/support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../../packages/server/test/support/hostile-idp.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** `started` in the statistics is counted in memory: what a stop writes, and what a kill loses. */

const SHOP = "https://shop.example/signed-in";

describe.each(bothEngines)("on $name", (engine) => {
  let database: TestDatabase;
  let idp: HostileIdp;
  let place: Place;
  let running: Running[];
  let authorize: string;
  let token: string;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    idp = await startHostileIdp();
    place = await newPlace(database.url);
    Object.assign(place.env, { LATCHKEY_EGRESS_ALLOW: idp.origin, LATCHKEY_PUBLIC_URL: place.url });
    running = [await serve(place)];
    const made = await createStore(place, "--rate-limit", "100000");
    token = await getToken(place.url, made);
    const { realm_id: realmId } = await send("GET", "/v2/customer-authentication-settings");
    const realm = `/v2/authentication-realms/${realmId}`;
    await send("PUT", realm, { type: "authentication-realm", redirect_uris: [SHOP] });
    const profile = await send("POST", `${realm}/oidc-profiles`, {
      type: "oidc-profile",
      name: "Practice",
      discovery_url: idp.discoveryUrl,
      client_id: idp.clientId,
      client_secret: idp.clientSecrets[0],
    });
    const query = new URLSearchParams({
      profile: profile.id ?? "",
      scope: "openid email",
      response_type: "code",
      client_id: "customers",
      redirect_uri: SHOP,
      state: "s",
      code_challenge_method: "S256",
      code_challenge: newPkce().challenge,
    });
    authorize = `/sign-on/stores/${made.store.id}/realms/${realmId}/authorize?${query}`;
  });
  afterEach(async () => {
    for (const { child, exited } of running ?? []) {
      child.kill("SIGKILL");
      await exited;
    }
    place?.leave();
    await idp?.close();
    await database?.drop();
  });

  async function send(method: string, path: string, data?: object) {
    const answer = await fetch(place.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(data && { body: JSON.stringify({ data }) }),
    });
    return ((await answer.json()) as { data: Record<string, string> }).data;
  }
  const begin = async (url: string) => {
    const answer = await fetch(url + authorize, { redirect: "manual" });
    expect(answer.status).toBe(303);
    return answer;
  };
  const end = async ({ child, exited }: Running, signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  async function outcomes(): Promise<Record<string, number>> {
    const entries = (await send("GET", "/v2/sign-ons/statistics?step=day")) as unknown as {
      outcomes: Record<string, number>;
    }[];
    return entries[0]?.outcomes ?? {};
  }

  test("SIGTERM writes the redirects of the last minute, of every instance", async () => {
    const [first] = running as [Running];
    let begun = 3;
    for (let i = 0; i < 3; i++) await begin(place.url);
    if (engine.name === "postgres") {
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const second = await serve({ ...place, env: { ...place.env, PORT: String(port) }, url });
      running.push(second);
      await begin(url);
      begun++;
      expect(await end(second, "SIGTERM")).toBe(0);
    }
    expect(await end(first, "SIGTERM")).toBe(0);
    running.push(await serve(place));
    await until(async () => (await outcomes()).started === begun);
  });

  test("SIGKILL loses redirects of the last minute and nothing else", async () => {
    const [first] = running as [Running];
    const answer = await begin(place.url);
    const cookie = answer.headers.getSetCookie().map((set) => set.split(";")[0]);
    const back = idp.signIn(answer.headers.get("location") ?? "");
    const signedOn = await fetch(back, { redirect: "manual", headers: { cookie: cookie.join("; ") } });
    expect(signedOn.headers.get("location")).toContain("code=");
    await until(async () => (await outcomes()).code_issued === 1);
    await end(first, "SIGKILL");
    running.push(await serve(place));
    expect(await outcomes()).toEqual({ code_issued: 1 });
  });
});
