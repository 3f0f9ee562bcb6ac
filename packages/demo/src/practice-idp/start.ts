import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerPage, isPagePath } from "./answer-page.ts";
import { createKnobs, type Knobs } from "./knobs.ts";
import { createMemory } from "./memory.ts";
import { pageHeaders, sendPage } from "./pages/page.ts";
import { problemPage } from "./pages/problem.ts";
import { createPeople } from "./people.ts";
import { createProvider, type PracticeClient } from "./provider.ts";
import { newSigningKey } from "./signing-key.ts";

type PracticeIdpOptions = {
  /** Default: any free port. */
  port?: number;
  host?: string;
  /** The host name in the issuer and in all links. */
  publicHost?: string;
  clients?: PracticeClient[];
  /** Prints nothing, not even errors. */
  quiet?: boolean;
  /** Sends logout tokens. */
  fetch?: typeof fetch;
};

type PracticeIdp = {
  origin: string;
  issuer: string;
  discoveryUrl: string;
  /** Registers a client, or replaces the one with the same id. */
  setClient(client: PracticeClient): void;
  /** The URL to which the provider's pages link back. */
  setShop(url: string): void;
  knobs: Knobs;
  close(): Promise<void>;
};

/**
 * An identity provider for practice: a certified library, invented people who sign in without a password, and
 * knobs that cause the faults of real providers. It is for local use only.
 */
export async function startPracticeIdp(options: PracticeIdpOptions = {}): Promise<PracticeIdp> {
  const { host = "127.0.0.1", publicHost = "localhost", quiet = false } = options;
  const closing = new AbortController();
  const server = createServer((request, response) => {
    answer(request, response).catch((fault) => {
      report(fault);
      if (response.headersSent) response.destroy();
      else sendPage(response, 500, problemPage("Something went wrong here", "Please try again."));
    });
  });
  const publicName = `${publicHost}:${await listen(server, options.port ?? 0, host)}`;
  const origin = `http://${publicName}`;
  const discoveryUrl = `${origin}/.well-known/openid-configuration`;

  const clients = new Map((options.clients ?? []).map((client) => [client.clientId, client]));
  const people = createPeople();
  const memory = createMemory();
  const port = publicName.split(":").at(-1);
  const cookies = { prefix: `practice_${port}`, keys: [randomBytes(16).toString("hex")] };
  let shopUrl: string | undefined;
  let key = newSigningKey();
  const knobs = createKnobs(() => {
    key = newSigningKey();
    running = run();
  });
  const settings = knobs.get;
  let running = run();

  function run() {
    const provider = createProvider({
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
    return { provider, answerProtocol: provider.callback() };
  }

  function report(fault: unknown): void {
    if (!quiet) console.error("practice provider:", fault);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = URL.parse(request.url ?? "", origin) ?? new URL(origin);
    if (isPagePath(pathname)) {
      const { provider } = running;
      const parts = { origin, provider, people, knobs, keyId: key.kid, discoveryUrl, shopUrl };
      return answerPage(parts, request, response, pathname);
    }
    // The library builds the addresses in its answers from this header.
    request.headers.host = publicName;
    setProtocolHeaders(response, pathname, settings().clockSkewSeconds * 1000);
    await running.answerProtocol(request, response);
  }

  return {
    origin,
    issuer: origin,
    discoveryUrl,
    setClient(client) {
      clients.set(client.clientId, client);
      running = run();
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

/** Listens, and returns the port. */
async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function setProtocolHeaders(response: ServerResponse, pathname: string, skewMs: number): void {
  response.setHeader("Content-Security-Policy", pageHeaders("anywhere")["Content-Security-Policy"] ?? "");
  // Browsers compute the expiry of cookies from `Date`, so answers that set cookies keep the correct time.
  if (skewMs !== 0 && !pathname.startsWith("/auth"))
    response.setHeader("Date", new Date(Date.now() + skewMs).toUTCString());
}
