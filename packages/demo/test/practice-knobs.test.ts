import { ApiError } from "@latchkey/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { checkProfile } from "../../server/src/contract/oidc-profiles.ts";
import {
  type SignOnReason,
  signOnReasonEntry,
  signOnReasons,
} from "../../server/src/contract/sign-on-reasons.ts";
import { type KnobName, knobTable } from "../src/practice-idp/knob-table.ts";
import { startPracticeIdp } from "../src/practice-idp/start.ts";
import { explain } from "../src/storefront/pages/frame/explain.ts";
import { type Federation, openBrowser, openFederation, signOn } from "./practice-federation.ts";

let opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened) await one.close();
  opened = [];
});

async function open(options?: Parameters<typeof openFederation>[0]): Promise<Federation> {
  const federation = await openFederation(options);
  opened.push(federation);
  return federation;
}

async function openIdp() {
  const idp = await startPracticeIdp({ quiet: true });
  opened.push(idp);
  const service = () => Promise.reject(new Error("there is no service here"));
  return { idp, browser: openBrowser({ idp, service }) };
}

const ADA = { person: "ada" };

describe("knobs", () => {
  const endings = Object.entries(knobTable).flatMap(([name, { ends }]) =>
    ends.map((ending) => [name, JSON.stringify(ending.settings), String(ending.reason), ending] as const),
  );

  test.each(endings)(
    "%s %s: the record says %s, and after a reset sign-on works",
    async (name, _, __, end) => {
      // The service waits for one second in this test, not for eight.
      const f = await open(name === "tokenDelayMs" ? { idpCallMs: 1000 } : {});
      const browser = openBrowser(f);
      f.idp.knobs.set(end.settings);
      for (let rotation = 0; rotation < (end.rotations ?? 0); rotation++) {
        await signOn(f, ADA, { browser });
        f.idp.knobs.rotateKeys();
      }
      expect((await signOn(f, ADA, { browser })).reason).toBe(end.reason);
      // Also for a person who is signed in already and sees no page.
      if (end.reason !== null) expect((await signOn(f, ADA, { browser })).reason).toBe(end.reason);
      f.idp.knobs.reset();
      // The service reads keys again after ten seconds at the earliest.
      f.clock.advance(10_000);
      expect((await signOn(f, ADA, { browser })).reason).toBeNull();
    },
  );

  test.each(Object.values(knobTable))(
    "$title: what the card quotes is the heading that the shop shows",
    ({ shopper, ends }) => {
      const quoted = [...shopper.matchAll(/“([^”]+)”/g)].map(([, text]) => text);
      const shown = ends.flatMap(({ reason }) => {
        if (reason === null) return [];
        const { error } = signOnReasonEntry(reason as SignOnReason);
        return [explain(new ApiError(error, "", { reason })).title];
      });
      expect(new Set(quoted)).toEqual(new Set(shown));
    },
  );

  test("every reason in the table exists in Latchkey", () => {
    const reasons = Object.values(knobTable).flatMap(({ ends }) => ends.map(({ reason }) => reason));
    for (const reason of reasons) if (reason !== null) expect(signOnReasons).toHaveProperty([reason]);
  });

  test("a key rotation ends no session, and removes the old key", async () => {
    const f = await open();
    const browser = openBrowser(f);
    const keys = async () => (await (await fetch(`${f.idp.origin}/jwks`)).json()).keys;
    const first = await signOn(f, ADA, { browser });
    const [old] = await keys();
    f.idp.knobs.rotateKeys();
    const second = await signOn(f, undefined, { browser });
    expect(second.customer.id).toBe(first.customer.id);
    const current = await keys();
    expect(current).toHaveLength(1);
    expect(current[0].kid).not.toBe(old.kid);
    expect(current[0]).not.toHaveProperty("d");
  });

  test("the nine checks find a wrong clock too", async () => {
    const f = await open();
    f.idp.knobs.set({ clockSkewSeconds: -600 });
    const { body } = await f.store.call(checkProfile, { ids: { realm: f.realmId, id: f.profileId } });
    expect(body.data.warnings).toEqual([expect.stringContaining("more than 60 seconds apart")]);
  });

  test("consent is refused without a page too", async () => {
    const f = await open();
    const browser = openBrowser(f);
    await signOn(f, ADA, { browser });
    f.idp.knobs.set({ refuseConsent: true });
    const { error, reason } = await signOn(f, undefined, { browser, prompt: "none" });
    expect([error, reason]).toEqual(["access_denied", "idp_error"]);
  });

  test("get returns a copy, set keeps values in bounds, and reset turns all off", async () => {
    const { idp } = await openIdp();
    const atStart = idp.knobs.get();
    idp.knobs.set({ twoAudiences: true, tokenDelayMs: 5 });
    expect(idp.knobs.get()).toEqual({ ...atStart, twoAudiences: true, tokenDelayMs: 5 });
    idp.knobs.get().dropEmail = true;
    expect(idp.knobs.get().dropEmail).toBe(false);
    for (const tokenDelayMs of [-1, 0.5, 60_001, Number.NaN])
      expect(() => idp.knobs.set({ tokenDelayMs })).toThrow(RangeError);
    idp.knobs.reset();
    expect(idp.knobs.get()).toEqual(atStart);
  });
});

describe("the page of knobs", () => {
  const press = (url: string, headers: Record<string, string>, form = { knob: "dropEmail", value: "on" }) =>
    fetch(`${url}/knobs`, { method: "POST", redirect: "manual", headers, body: new URLSearchParams(form) });

  test("shows every knob with its texts, reasons and state", async () => {
    const { idp } = await openIdp();
    idp.knobs.set({ wrongIssuer: true, clockSkewSeconds: -600 });
    const page = await (await fetch(`${idp.origin}/knobs`)).text();
    for (const [name, { title, does, shopper, ends }] of Object.entries(knobTable)) {
      const card = page.split('<section class="').find((part) => part.includes(`id="${name}"`)) ?? "";
      const isTurned = name === "wrongIssuer" || name === "clockSkewSeconds";
      expect(card.startsWith(isTurned ? "card knob turned" : 'card knob"'), name).toBe(true);
      for (const text of [title, does, shopper, ...ends.map(({ reason }) => reason ?? "none")])
        expect(card, name).toContain(text);
    }
  });

  test("gives each button an accessible name of its own", async () => {
    const { idp } = await openIdp();
    const page = await (await fetch(`${idp.origin}/knobs`)).text();
    const names = [...page.matchAll(/<button.*?<\/button>/g)].map(([button]) =>
      button.replaceAll(/<.*?>/g, ""),
    );
    expect(names).toContain("Off: Clock skew");
    expect(new Set(names).size).toBe(names.length);
  });

  test("turns each knob with a plain form, and leads back", async () => {
    const { idp } = await openIdp();
    const origin = { origin: idp.origin };
    const atStart = idp.knobs.get();
    const values: Partial<Record<KnobName, [string, unknown]>> = {
      clockSkewSeconds: ["-600", -600],
      tokenDelayMs: ["250", 250],
    };
    for (const name of Object.keys(atStart) as (keyof typeof atStart)[]) {
      const [value, stands] = values[name] ?? ["on", true];
      const response = await press(idp.origin, origin, { knob: name, value });
      expect([response.status, response.headers.get("location")]).toEqual([303, `/knobs#${name}`]);
      expect(idp.knobs.get()[name]).toBe(stands);
    }
    expect((await press(idp.origin, origin, { knob: "twoAudiences", value: "off" })).status).toBe(303);
    expect(idp.knobs.get().twoAudiences).toBe(false);
    expect((await press(idp.origin, origin, { knob: "reset", value: "" })).status).toBe(303);
    expect(idp.knobs.get()).toEqual(atStart);
  });

  test.each([
    ["tokenDelayMs", "-5"],
    ["clockSkewSeconds", "1e9"],
    ["tokenDelayMs", ""],
    ["dropEmail", "maybe"],
    ["constructor", "on"],
  ])("400 %s cannot be set to %s", async (knob, value) => {
    const { idp } = await openIdp();
    const atStart = idp.knobs.get();
    expect((await press(idp.origin, { origin: idp.origin }, { knob, value })).status).toBe(400);
    expect(idp.knobs.get()).toEqual(atStart);
  });

  test("403 for a POST from another origin, or without an origin", async () => {
    const { idp } = await openIdp();
    const { port } = new URL(idp.origin);
    const foreign: Record<string, string>[] = [
      {},
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `http://localhost:${Number(port) + 1}` },
      { origin: `http://evil.example:${port}`, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site", origin: idp.origin },
      { "sec-fetch-site": "none" },
    ];
    for (const headers of foreign)
      expect((await press(idp.origin, headers)).status, JSON.stringify(headers)).toBe(403);
    expect(idp.knobs.get().dropEmail).toBe(false);
    expect((await press(idp.origin, { "sec-fetch-site": "same-origin" })).status).toBe(303);
  });

  test("Sign out here ends the session, at the shop too", async () => {
    const f = await open();
    f.registerLogout();
    const browser = openBrowser(f);
    const { token } = await signOn(f, ADA, { browser });
    const page = async () => (await browser.request(`${f.idp.origin}/knobs`)).text();
    expect(await page()).toContain("<strong>Ada</strong> is signed in here");
    expect((await browser.post(`${f.idp.origin}/knobs`, { knob: "signOut" })).status).toBe(303);
    expect(f.answersToLogout).toEqual([200]);
    expect(await page()).toContain("Nobody is signed in here");
    const path = `/v2/customers/${token?.customer_id}`;
    const { body } = await f.ask(path, { headers: { "x-customer-token": token?.token ?? "" } });
    expect(body.errors[0].code).toBe("customer_token_invalid");
    await signOn(f, ADA, { browser });
    expect(browser.pages).toHaveLength(2);
  });
});

describe("every page", () => {
  async function everyPage() {
    const f = await open();
    const browser = openBrowser(f);
    const name = `<script>alert(1)</script>"'&`;
    await signOn(f, { action: "typed", name, email: "x@shop.example" }, { browser });
    await signOn(f, ADA, { browser, prompt: "login" }).catch(() => undefined);
    await signOn(f, { action: "typed", name, email: "x@shop.example" }, { browser, prompt: "login" });
    const knobs = await browser.request(`${f.idp.origin}/knobs?%22%3E%3Cscript%3E`);
    const unknown = await browser.request(`${f.idp.origin}/auth?client_id=%3Cscript%3E`);
    const over = await browser.request(`${f.idp.origin}/interaction/%3Cscript%3E`);
    return { pages: browser.pages, answers: [knobs, unknown, over] };
  }

  test("has a strict policy, loads nothing, and has no script", async () => {
    const { answers, pages } = await everyPage();
    for (const { headers } of answers) {
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'none'; style-src 'sha256-[^']+'; /);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    }
    // Browsers apply `form-action` to every redirect on the way back to the shop.
    for (const { policy } of pages) expect(policy).toMatch(/^default-src 'none'; (?!.*form-action)/);
    const others = await Promise.all(answers.map((answer) => answer.text()));
    for (const text of [...pages.map((page) => page.text), ...others]) {
      expect(text).not.toMatch(/<script/i);
      expect(text).not.toMatch(/ (style|on\w+)=/i);
      const addresses = [...text.matchAll(/(?:src|href|action|url)\s*[=(]\s*["']?([^"')\s>]+)/gi)];
      for (const [, address] of addresses)
        expect(address).toMatch(/^(\/(?!\/)|data:,|http:\/\/localhost:\d+\/\.well-known\/)/);
    }
  });

  test("escapes typed text", async () => {
    const { pages, answers } = await everyPage();
    const typed = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;";
    expect(pages[1]?.text).toContain(`<strong>${typed}</strong>`);
    expect(await answers[0]?.text()).toContain(`<strong>${typed}</strong> is signed in`);
  });

  test("redirects from another host name of this machine", async () => {
    const { idp } = await openIdp();
    const elsewhere = idp.origin.replace("localhost", "127.0.0.1");
    const response = await fetch(`${elsewhere}/knobs`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([303, `${idp.origin}/knobs`]);
    const document = await (await fetch(`${elsewhere}/.well-known/openid-configuration`)).json();
    expect(document.token_endpoint).toBe(`${idp.origin}/token`);
  });
});
