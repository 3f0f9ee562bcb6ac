import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { interact } from "./interaction.ts";
import { createKnobs, type Knobs } from "./knobs.ts";
import { createMemory } from "./memory.ts";
import { isFromOwnPage } from "./own-request.ts";
import { pageHeaders, SHOP_PATH, sendPage } from "./pages/page.ts";
import { problemPage } from "./pages/problem.ts";
import { createPeople } from "./people.ts";
import { createProvider, type PracticeClient } from "./provider.ts";
import { newSigningKey } from "./signing-key.ts";
import { showKnobs, turnKnob } from "./turn-knobs.ts";

type PracticeIdpOptions = {
  /** 0, or none: any that is free. */
  port?: number;
  host?: string;
  /** The name that browsers and the service know it by. */
  publicHost?: string;
  clients?: PracticeClient[];
  /** Says nothing, not even of its own faults. */
  quiet?: boolean;
  /** How logout tokens are delivered. */
  fetch?: typeof fetch;
};

type PracticeIdp = {
  origin: string;
  issuer: string;
  discoveryUrl: string;
  /** Registers a client, or replaces the one with the same id. */
  setClient(client: PracticeClient): void;
  /** Where its pages lead back to. */
  setShop(url: string): void;
  knobs: Knobs;
  close(): Promise<void>;
};

/**
 * An identity provider to practise with: a certified library, people who are ready to sign in without a password, and knobs
 * that make it do wrong what providers do wrong. For one machine, not for the world.
 */
export async function startPracticeIdp(options: PracticeIdpOptions = {}): Promise<PracticeIdp> {
  const { port = 0, host = "127.0.0.1", publicHost = "localhost", quiet = false } = options;
  const closing = new AbortController();
  const server = createServer((request, response) => {
    answer(request, response).catch((fault) => {
      report(fault);
      if (response.headersSent) response.destroy();
      else sendPage(response, 500, problemPage("Something went wrong here", "Please try again."));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const publicName = `${publicHost}:${(server.address() as AddressInfo).port}`;
  const origin = `http://${publicName}`;
  const discoveryUrl = `${origin}/.well-known/openid-configuration`;

  const clients = new Map((options.clients ?? []).map((client) => [client.clientId, client]));
  const people = createPeople();
  const memory = createMemory();
  const cookies = {
    prefix: `practice_${publicName.split(":").at(-1)}`,
    keys: [randomBytes(16).toString("hex")],
  };
  let shopUrl: string | undefined;
  let key = newSigningKey();
  const knobs = createKnobs(() => {
    key = newSigningKey();
    restart();
  });
  const settings = knobs.get;
  let provider = makeProvider();
  let answerProtocol = provider.callback();

  function makeProvider() {
    return createProvider({
      issuer: origin,
      clients: [...clients.values()],
      key,
      memory,
      cookies,
      people,
      settings,
      fetch: options.fetch ?? fetch,
      closing: closing.signal,
      report,
    });
  }

  function restart(): void {
    provider = makeProvider();
    answerProtocol = provider.callback();
  }

  function report(fault: unknown): void {
    if (!quiet) console.error("practice provider:", fault);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = URL.parse(request.url ?? "", origin) ?? new URL(origin);
    const isPage = ["/", "/knobs", SHOP_PATH].includes(pathname) || pathname.startsWith("/interaction/");
    if (!isPage) return answerAsProvider(request, response, pathname);

    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead && request.method !== "POST")
      return void response.writeHead(405, { Allow: "GET, POST" }).end();
    // Under another name of this machine the cookies would be missing, and forms would come from another origin.
    if (isRead && request.headers.host !== publicName) return redirect(response, `${origin}${request.url}`);
    if (!isRead && !isFromOwnPage(request, origin)) {
      const detail = "It came from another site. Only this provider’s own pages may change anything here.";
      return sendPage(response, 403, problemPage("This request is refused", detail));
    }
    if (pathname === "/") return redirect(response, "/knobs");
    if (pathname === SHOP_PATH) {
      if (shopUrl !== undefined) return redirect(response, shopUrl);
      return sendPage(response, 404, problemPage("No shop here", "This provider was started without one."));
    }
    if (pathname !== "/knobs") return interact({ provider, people, settings }, request, response);
    const deps = { provider, people, knobs, keyId: key.kid, discoveryUrl };
    return isRead ? showKnobs(deps, request, response) : turnKnob(deps, request, response);
  }

  async function answerAsProvider(
    request: IncomingMessage,
    response: ServerResponse,
    pathname: string,
  ): Promise<void> {
    // The library builds the addresses that it publishes from this header.
    request.headers.host = publicName;
    response.setHeader("Content-Security-Policy", pageHeaders("anywhere")["Content-Security-Policy"] ?? "");
    // Browsers reckon the life of cookies by the server's clock, so where cookies are set it stays right.
    const skewMs = settings().clockSkewSeconds * 1000;
    if (skewMs !== 0 && !pathname.startsWith("/auth"))
      response.setHeader("Date", new Date(Date.now() + skewMs).toUTCString());
    await answerProtocol(request, response);
  }

  return {
    origin,
    issuer: origin,
    discoveryUrl,
    setClient(client) {
      clients.set(client.clientId, client);
      restart();
    },
    setShop(url) {
      shopUrl = url;
    },
    knobs,
    async close() {
      closing.abort();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const redirect = (response: ServerResponse, location: string): void =>
  void response.writeHead(303, { Location: location, "Cache-Control": "no-store" }).end();
