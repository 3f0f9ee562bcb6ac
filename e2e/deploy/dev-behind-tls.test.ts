import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createAdmin } from "@latchkey/sdk/admin";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/**
 * `latchkey dev` with the https address of a proxy. The proxy need not run yet, and Node need not trust its
 * certificate.
 */

let place: Place;
let running: Running;

beforeEach(async () => {
  place = await newPlace();
});
afterEach(async () => {
  running.child.kill("SIGKILL");
  await running.exited;
  place.leave();
});

async function startDev(publicUrl: string) {
  place.env.LATCHKEY_PUBLIC_URL = publicUrl;
  running = await serve(place, ["dev"]);
  await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
  const read = (name: string) => JSON.parse(readFileSync(join(place.folder, name), "utf8"));
  const admin = createAdmin({ baseUrl: place.url, ...read("first-store.json") });
  const { realm_id } = (await admin.settings.get()).data;
  const { data: realm } = await admin.realms.get(realm_id);
  const [profile] = (await admin.profiles(realm_id).list()).data;
  return { realm, profile, shop: `http://localhost:${read("ports.json").shop}` };
}

test("latchkey dev › starts with an https address on localhost, and its pages link to the practice shop", async () => {
  const publicUrl = `https://localhost:${await freePort()}`;
  const { realm, profile, shop } = await startDev(publicUrl);
  expect(running.logLines().join("\n")).toContain(`console        ${publicUrl}/console/\n`);
  expect(profile?.links["authorization-endpoint"]).toMatch(`${publicUrl}/sign-on/`);
  expect(realm).toMatchObject({ redirect_uris: [`${shop}/signed-in`], home_url: `${shop}/` });
  const authorize = new URL(profile?.links["authorization-endpoint"] ?? "");
  const page = await (await fetch(`${place.url}${authorize.pathname}${authorize.search}`)).text();
  expect(page).toContain(`<a href="${shop}/">`);
});

test("latchkey dev › starts with a public https address, and its pages do not link to localhost", async () => {
  const { realm, shop } = await startDev("https://latchkey.example");
  expect(realm).toMatchObject({ name: "Alder & Pine", redirect_uris: [`${shop}/signed-in`], home_url: null });
});
