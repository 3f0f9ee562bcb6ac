import { request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createHttpServer } from "../../../src/http/server.ts";
import { locationOf, newBrowser, redirectOf } from "../../support/redirects.ts";
import { ask, atIdp, authorizeRequests, f, idp, queryOf, refusalFor, SENT_TO_IDP } from "./requests.ts";

/** The state returns to the storefront unchanged; four parameters reach the provider unchanged. */

authorizeRequests();

describe("the storefront's state comes back unchanged (R8)", () => {
  test.each([
    ["punctuation", "a&b=c#d?e/f+g h%20i;j,k'l\"m\\n|o"],
    ["markup (T07, A73)", "<script>alert(1)</script>\"'><img src=x>"],
    ["line breaks (T07)", "a\r\nSet-Cookie: evil=1\r\n\r\n<html>"],
    ["a null byte", "a\0b"],
    ["Unicode", "ключ 🔑 é e\u0301 \u2028 \u202e עברית"],
    ["text that looks like parameters of the redirect", "x&code=evil&iss=https://evil.example"],
    ["text that looks like a percent escape", "%41%0d%0a%zz"],
    ["spaces around it", "  s  "],
    ["JSON", '{"__proto__":{"x":1}}'],
    ["2048 characters", "s".repeat(2048)],
    ["2048 characters, a third of them not ASCII", `${"éab".repeat(682)}éa`],
  ])("%s", async (_, state) => {
    const { location, returned, answer } = await f.signOn({ parameters: { state } });
    expect(answer.status).toBe(303);
    expect(location).toMatch(/^[\x21-\x7e]+$/);
    expect([...returned.keys()]).toEqual(["code", "state", "iss"]);
    expect(returned.get("state")).toBe(state);
    const refused = await f.begin(newBrowser(), { state, response_type: "token" });
    expect(redirectOf(refused)).toEqual(refusalFor("response_type_unsupported", { state }));
    expect(locationOf(refused)).toMatch(/^[\x21-\x7e]+$/);
  });

  test("2049 characters are refused", async () => {
    const state = "s".repeat(2049);
    expect(redirectOf(await f.begin(newBrowser(), { state }))).toEqual(
      refusalFor("state_missing", { state }),
    );
  });

  test.each([
    ["control characters", "\x01"],
    ["backslashes", "\\"],
    ["quotes", '"'],
    ["DEL characters", "\x7f"],
  ])("2048 %s are refused at authorize, or come back", async (_, character) => {
    const { answer, code, error } = await f.signOn({ parameters: { state: character.repeat(2048) } });
    expect(answer.status).toBe(303);
    expect(error ?? code).toMatch(/^(invalid_request|lkac_)/);
  });
});

describe("display, prompt, ui_locales and login_hint reach the provider byte for byte (R19, seed 4.3)", () => {
  test.each([
    "de-CH%20fr+en",
    "de-CH+fr%20en",
    "%64%65",
    "%c3%a9%C3%A9",
    "%FF%fe",
    "a%00b",
    "a%26client_id%3Devil%26redirect_uri%3Dhttps://evil.example",
    "a%23client_id=evil",
    "a%0D%0ALocation:%20https://evil.example",
    "%3Cscript%3E",
    "none+login",
    "a=b=c",
    "a/b?c:d@e,f!$()*~_.-",
  ])("%s", async (sent) => {
    for (const name of ["display", "prompt", "ui_locales", "login_hint"]) {
      const answer = await ask(`${queryOf()}&${name}=${sent}`);
      expect(locationOf(answer).endsWith(`&${name}=${sent}`), name).toBe(true);
      expect([...atIdp(answer).keys()]).toEqual([...SENT_TO_IDP, name]);
      expect(atIdp(answer).get("client_id")).toBe(idp.clientId);
      expect(locationOf(answer)).toMatch(/^[\x21-\x7e]+$/);
    }
  });

  test("several of them keep one fixed order; empty ones are left out (R5)", async () => {
    const answer = await ask(`ui_locales=de&${queryOf()}&prompt=none&display=popup`);
    expect(locationOf(answer).endsWith("&display=popup&prompt=none&ui_locales=de")).toBe(true);
    const empty = await ask(`ui_locales=&${queryOf()}&prompt&display=`);
    expect([...atIdp(empty).keys()]).toEqual(SENT_TO_IDP);
  });

  test("an unencoded value arrives as the same value, over a real connection too (T07)", async () => {
    const server = createHttpServer(f.latchkey.app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const value = `a'b|c"d<e>f#g\\h^{i}[j]\`k`;
    const path = `${new URL(f.issuer).pathname}/authorize?${queryOf()}&prompt=${value}&display=page`;
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        httpRequest({ host: "127.0.0.1", port, path, agent: false }, resolve).on("error", reject).end();
      });
      response.resume();
      const location = response.headers.location ?? "";
      expect(response.statusCode).toBe(303);
      expect(location).toMatch(/^[\x21-\x7e]+$/);
      expect(location).not.toMatch(/["<>#\\^{}`|]/);
      expect([...new URL(location).searchParams.keys()]).toEqual([...SENT_TO_IDP, "display", "prompt"]);
      expect(new URL(location).searchParams.get("prompt")).toBe(value);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("a semicolon adds no parameter at a provider that splits at semicolons (T07)", async () => {
    const answer = await ask(`${queryOf()}&prompt=login;client_id=evil;redirect_uri=https://evil.example`);
    const names = locationOf(answer)
      .split("?")[1]
      ?.split(/[&;]/)
      .map((pair) => pair.split("=")[0]);
    expect(names).toEqual([...SENT_TO_IDP, "prompt"]);
    expect(atIdp(answer).get("prompt")).toBe("login;client_id=evil;redirect_uri=https://evil.example");
  });

  test("no other parameter reaches the provider, and no URL in a parameter is fetched (T08)", async () => {
    await f.begin(newBrowser());
    idp.journal.length = 0;
    const answer = await f.begin(newBrowser(), {
      nonce: "not-passed-on-nonce",
      id_token_hint: "not-passed-on-hint",
      claims: '{"not-passed-on":1}',
      acr_values: "not-passed-on",
      response_mode: "form_post",
      resource: "https://not-passed-on.example",
      audience: "not-passed-on",
      code_verifier: "not-passed-on",
      client_secret: "not-passed-on",
      dpop_jkt: "not-passed-on",
    });
    expect([...atIdp(answer).keys()]).toEqual(SENT_TO_IDP);
    expect(locationOf(answer)).not.toContain("not-passed-on");
    expect(atIdp(answer).get("nonce")).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(idp.journal).toEqual([]);
  });
});
