import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CapturedIdp, startCapturedIdp } from "../../packages/server/test/support/captured-idp.ts";
import { LATCHKEY } from "../../packages/server/test/support/command.ts";
import { findProgram } from "../../packages/server/test/support/programs.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/** Runs the guide's commands one after the other, against recorded answers of a Keycloak. */

const hasCurl = findProgram("curl") !== undefined;

let place: Place;
let running: Running;
let keycloak: CapturedIdp;

beforeAll(async () => {
  keycloak = await startCapturedIdp("keycloak");
  place = await newPlace();
  place.env.LATCHKEY_EGRESS_ALLOW = keycloak.origin;
  running = await serve(place, ["dev"]);
  await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
});
afterAll(async () => {
  running.child.kill("SIGINT");
  await running.exited;
  await keycloak.close();
  place.leave();
});

test.skipIf(!hasCurl)(
  "connect-your-identity-provider.md works as printed, from the doctor to the checks",
  async () => {
    const page = readFileSync(
      new URL("../../docs/guides/connect-your-identity-provider.md", import.meta.url),
      "utf8",
    );
    const script = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join("\n");
    const banner = running.logLines().join("\n");
    const shown = (name: string) => banner.match(new RegExp(`${name}\\s+(\\S+)`))?.[1] ?? "";
    const typed = script
      .replaceAll("http://localhost:8080", keycloak.origin)
      .replaceAll("http://localhost:4000", place.url)
      .replaceAll("npx latchkey", `"${process.execPath}" "${LATCHKEY}"`);
    const env = {
      PATH: process.env.PATH,
      NO_COLOR: "1",
      ...place.env,
      CLIENT_ID: shown("client id"),
      CLIENT_SECRET: shown("client secret"),
    };
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", typed], {
      env,
      cwd: place.folder,
    });
    expect(stdout).not.toContain('"errors"');
    for (const text of [
      "provider Keycloak",
      "0 not met",
      `the callback URL: ${place.url}/sign-on/stores/`,
      '"enabled":true',
      '"has_client_secret":true',
      `"issuer":"${keycloak.issuer}"`,
      "http://localhost:3000/signed-in",
      `${shown("    shop")}/signed-in`,
      '"type":"oidc-profile-checks"',
      '"provider":{"key":"keycloak"',
    ])
      expect(stdout).toContain(text);
  },
);
