import { lookup, Resolver } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { limits } from "../contract/limits.ts";
import { isAllowedUrl, isPublicAddress } from "./address-rules.ts";

/**
 * The one door to the outside. Every request to an identity provider goes through here, at every use and not only when
 * a profile is saved: https on port 443 (or an origin that the operator allows), a plain ASCII host name, resolved once,
 * every address public, the connection made to the address that was checked. No redirect is followed, no proxy of the
 * environment is used, no connection is used twice, and time and size have ends.
 */
export type Egress = { send(request: EgressRequest): Promise<EgressAnswer> };

export type EgressRequest = {
  url: string;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  maxBytes: number;
};

export type EgressAnswer = {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  elapsedMs: number;
};

/** Why a request was not made or not finished. Nothing that the other side said is in it. */
export type EgressReason =
  | "resting"
  | "address_not_allowed"
  | "host_unknown"
  | "host_not_public"
  | "connect_failed"
  | "tls_failed"
  | "too_slow"
  | "too_large"
  | "answer_broken"
  | "answer_encoded";

/** `wasSent`: there was a connection, and the other side may have read the request. */
type EgressFault = Error & { reason: EgressReason; wasSent: boolean };

export function egressFault(reason: EgressReason, cause?: unknown): EgressFault {
  const error = new Error(`egress: ${reason}`, { cause });
  return Object.assign(error, { name: "EgressFault", reason, wasSent: false });
}

export const isEgressFault = (error: unknown): error is EgressFault =>
  error instanceof Error && error.name === "EgressFault";

export type EgressDeps = {
  /** Origins that pass although they are http, on another port or inside. From the operator alone. */
  allowedOrigins: readonly string[];
  resolve?: (host: string) => Promise<string[]>;
  connect?: (to: Connection) => Socket;
  /** Certificates of a test's own authority. */
  ca?: string;
  connectMs?: number;
  callMs?: number;
};

export type Connection = {
  address: string;
  port: number;
  host: string;
  secure: boolean;
  ca: string | undefined;
};

const MAX_ADDRESSES = 3;

export function createEgress(deps: EgressDeps): Egress {
  const connect = deps.connect ?? connectTo;
  const connectMs = deps.connectMs ?? limits.idpConnectMs;
  const callMs = deps.callMs ?? limits.idpCallMs;

  async function send(request: EgressRequest): Promise<EgressAnswer> {
    const startedMs = performance.now();
    if (!isAllowedUrl(request.url, deps.allowedOrigins)) throw egressFault("address_not_allowed");
    const url = new URL(request.url);
    const isAllowed = deps.allowedOrigins.includes(url.origin);
    const deadline = AbortSignal.timeout(callMs);
    const resolve = deps.resolve ?? (isAllowed ? resolveLocally : resolvePublicly);
    const addresses = await withDeadline(deadline, addressesOf(resolve, url, isAllowed));
    const socket = await connectFirst(addresses.slice(0, MAX_ADDRESSES), url, deadline);
    try {
      const answer = await withDeadline(deadline, exchange(socket, url, request));
      return { ...answer, elapsedMs: performance.now() - startedMs };
    } catch (error) {
      if (isEgressFault(error)) error.wasSent = true;
      throw error;
    } finally {
      socket.destroy();
    }
  }

  /** One dead address does not make a provider dead: they are tried in turn, and share the time there is to connect. */
  async function connectFirst(
    addresses: readonly string[],
    url: URL,
    deadline: AbortSignal,
  ): Promise<Socket> {
    const secure = url.protocol === "https:";
    let failure: unknown;
    for (const address of addresses) {
      const socket = connect({ address, port: portOf(url), host: bareHost(url), secure, ca: deps.ca });
      // Whoever waits hears of an error; after that there is nobody left to tell.
      socket.on("error", () => {});
      try {
        const limit = AbortSignal.timeout(Math.ceil(connectMs / addresses.length));
        await withDeadline(AbortSignal.any([deadline, limit]), connected(socket, secure));
        return socket;
      } catch (error) {
        socket.destroy();
        failure = error;
        if (isEgressFault(error) && error.reason === "tls_failed") break;
      }
    }
    throw failure;
  }

  return { send };
}

const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");
const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);

/** As the machine does it, its hosts file included: for what the operator has allowed. */
async function resolveLocally(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}

/** By DNS alone, off the thread pool that everything else of the process shares: a name server may hang. */
async function resolvePublicly(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: limits.idpConnectMs, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

/** All addresses must be public, not only the one that is used: a name that also points inside is no honest name. */
async function addressesOf(
  resolve: (host: string) => Promise<string[]>,
  url: URL,
  isAllowed: boolean,
): Promise<string[]> {
  const host = bareHost(url);
  const addresses = isIP(host)
    ? [host]
    : await resolve(host).catch((cause) => Promise.reject(egressFault("host_unknown", cause)));
  if (addresses.length === 0) throw egressFault("host_unknown");
  if (!isAllowed && !addresses.every(isPublicAddress)) throw egressFault("host_not_public");
  return addresses;
}

function connectTo({ address, port, host, secure, ca }: Connection): Socket {
  if (!secure) return connectPlain({ host: address, port });
  // A name for SNI and for the certificate; an address has none, and is checked as such.
  return connectTls({
    host: address,
    port,
    ...(isIP(host) ? {} : { servername: host }),
    ALPNProtocols: ["http/1.1"],
    // Said out loud, because an environment variable of Node would switch it off otherwise.
    rejectUnauthorized: true,
    ...(ca && { ca }),
  });
}

function connected(socket: Socket, secure: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(secure ? "secureConnect" : "connect", resolve);
    socket.once("error", (cause: Error & { code?: string }) => {
      const isTls = /CERT|TLS|SSL|SELF_SIGNED|ALTNAME|UNABLE_TO_/.test(cause.code ?? "");
      reject(egressFault(isTls ? "tls_failed" : "connect_failed", cause));
    });
  });
}

function exchange(
  socket: Socket,
  url: URL,
  request: EgressRequest,
): Promise<Omit<EgressAnswer, "elapsedMs">> {
  return new Promise((resolve, reject) => {
    const broken = (cause: unknown) =>
      reject(isEgressFault(cause) ? cause : egressFault("answer_broken", cause));
    socket.once("error", broken);
    const outgoing = httpRequest({
      createConnection: () => socket,
      method: request.method ?? "GET",
      host: url.host,
      path: url.pathname + url.search,
      maxHeaderSize: 16 * 1024,
      headers: {
        Host: url.host,
        Accept: "application/json",
        "Accept-Encoding": "identity",
        Connection: "close",
        "User-Agent": "latchkey",
        ...request.headers,
        ...(request.body !== undefined && { "Content-Length": String(Buffer.byteLength(request.body)) }),
      },
    });
    outgoing.on("error", broken);
    outgoing.on("upgrade", broken);
    outgoing.on("response", (incoming) => {
      readAnswer(incoming, request.maxBytes).then(resolve, broken);
    });
    outgoing.end(request.body);
  });
}

async function readAnswer(
  incoming: IncomingMessage,
  maxBytes: number,
): Promise<Omit<EgressAnswer, "elapsedMs">> {
  const encoding = incoming.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") throw egressFault("answer_encoded");
  if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) throw egressFault("too_large");
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    length += chunk.length;
    if (length > maxBytes) throw egressFault("too_large");
    chunks.push(chunk);
  }
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );
  return { status: incoming.statusCode ?? 0, headers, body: Buffer.concat(chunks) };
}

function withDeadline<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(egressFault("too_slow"));
    if (signal.aborted) late();
    signal.addEventListener("abort", late, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", late));
  });
}
