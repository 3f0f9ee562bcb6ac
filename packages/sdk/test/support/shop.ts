import { afterEach } from "vitest";
import { PUBLIC_URL } from "../../../server/test/support/app.ts";
import { createFederation, type Federation, SHOP } from "../../../server/test/support/federation.ts";
import { type Admin, type AdminOptions, createAdmin } from "../../src/admin/index.ts";
import { ApiError, createStorefront, type Storefront } from "../../src/index.ts";
import type { StorefrontOptions } from "../../src/types.ts";

/** Runs the SDK, the service and an identity provider in one process; the SDK's `fetch` calls the service. */

export const REDIRECT = { redirectUri: SHOP };

export type Sent = {
  method: string;
  path: string;
  headers: Headers;
  body: string;
  status: number | undefined;
  retryAfter: string | null;
};

/** Handles one request of the SDK, and may pass it to the service. */
export type Fault = (pass: () => Promise<Response>) => Promise<Response>;

export type Shop = {
  f: Federation;
  /** The requests that reached the network, in order. */
  sent: Sent[];
  /** Each fault applies to the next request to its path. */
  faults: { path: string; fault: Fault }[];
  slept: number[];
  /** Advances the clock without waiting. */
  sleep(ms: number): Promise<void>;
  fetch: NonNullable<StorefrontOptions["fetch"]>;
  /** A page of the shop: another tab, or the same tab after a reload. */
  page(options?: Partial<StorefrontOptions>): Storefront;
  storage: TestStorage;
  countOf(path: string): number;
};

let opened: Federation[] = [];

afterEach(async () => {
  for (const federation of opened) await federation.close();
  opened = [];
});

export async function openShop(options: Parameters<typeof createFederation>[0] = {}): Promise<Shop> {
  const f = await createFederation(options);
  opened.push(f);
  const { publicUrl = PUBLIC_URL } = options;
  const { clock } = f.latchkey;
  const storage = newStorage();
  const shop: Shop = {
    f,
    sent: [],
    faults: [],
    slept: [],
    async sleep(ms) {
      shop.slept.push(ms);
      clock.advance(ms);
    },
    storage,
    async fetch(url, init) {
      if (!url.startsWith(`${publicUrl}/`)) throw new Error(`the SDK asks a stranger: ${url}`);
      const request = new Request(url, init);
      const path = url.slice(publicUrl.length).replace(/\?.*/, "");
      const entry: Sent = {
        method: request.method,
        path,
        headers: request.headers,
        body: String(init.body ?? ""),
        status: undefined,
        retryAfter: null,
      };
      shop.sent.push(entry);
      const pass = async () => {
        const response = await f.latchkey.app.fetch(request, { incoming: PEER });
        entry.status = response.status;
        entry.retryAfter = response.headers.get("retry-after");
        return response;
      };
      const at = shop.faults.findIndex((planned) => planned.path === path);
      return at < 0 ? pass() : (shop.faults.splice(at, 1)[0] as { fault: Fault }).fault(pass);
    },
    page: (more = {}) =>
      createStorefront({
        baseUrl: publicUrl,
        clientId: f.store.key.clientId,
        fetch: shop.fetch,
        storage,
        now: clock.now,
        sleep: shop.sleep,
        ...more,
      }),
    countOf: (path) => shop.sent.filter((entry) => entry.path === path).length,
  };
  return shop;
}

const PEER = { socket: { remoteAddress: "127.0.0.1" } };

/** A shopper's browser. It keeps the service's cookie, and follows redirects. */
export function openBrowser({ f }: Pick<Shop, "f">) {
  let cookie = "";
  async function visit(url: string): Promise<string> {
    const response = await f.latchkey.app.fetch(new Request(url, { headers: { cookie } }), {
      incoming: PEER,
    });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    const location = response.headers.get("location");
    if (location === null) throw new Error(`no redirect, but ${response.status}: ${await response.text()}`);
    return location;
  }
  return {
    visit,
    /** Signs in at the identity provider, and returns the URL of Latchkey's callback. */
    async toCallback(url: string): Promise<string> {
      return f.idp.signIn(await visit(url));
    },
    /** Follows the whole sign-on, and returns the shop's URL. */
    async go(url: string): Promise<string> {
      let at = url;
      while (!at.startsWith(SHOP)) at = at.startsWith(f.idp.origin) ? f.idp.signIn(at) : await visit(at);
      return at;
    },
  };
}

/** Runs a sign-on, and returns the URL at which the shopper comes back. */
export async function signOn(shop: Shop, page: Storefront, browser = openBrowser(shop)): Promise<string> {
  const { url } = await page.beginSignOn(shop.f.profileId, REDIRECT);
  return browser.go(url);
}

/** The back office of the same store. */
export function openAdmin(shop: Shop, changes: Partial<AdminOptions> = {}): Admin {
  const { clientId, clientSecret } = shop.f.store.key;
  return createAdmin({
    baseUrl: PUBLIC_URL,
    clientId,
    clientSecret,
    fetch: shop.fetch,
    now: shop.f.latchkey.clock.now,
    sleep: shop.sleep,
    ...changes,
  });
}

type TestStorage = ReturnType<typeof newStorage>;

export function newStorage() {
  const entries = new Map<string, string>();
  return {
    entries,
    getItem: (name: string) => entries.get(name) ?? null,
    setItem: (name: string, value: string) => void entries.set(name, value),
    removeItem: (name: string) => void entries.delete(name),
  };
}

/** All items of an async iterator. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The error that a promise ends with. */
export async function errorOf(work: Promise<unknown>): Promise<ApiError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("nothing went wrong");
}

export const withParameter = (url: string, name: string, value: string | undefined): string => {
  const changed = new URL(url);
  if (value === undefined) changed.searchParams.delete(name);
  else changed.searchParams.set(name, value);
  return changed.href;
};

/** The service handles the request, and its answer is lost. */
export const loseAnswer: Fault = async (pass) => {
  await pass();
  throw new TypeError("Failed to fetch");
};
export const neverArrive: Fault = async () => {
  throw new TypeError("Failed to fetch");
};
export const answer =
  (status: number, body: string | object = "", headers: Record<string, string> = {}): Fault =>
  async () =>
    new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers });
