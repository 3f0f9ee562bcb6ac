import { lookup, Resolver } from "node:dns/promises";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { limits } from "../contract/limits.ts";
import { type OriginUse, originsFor } from "../lib/allowed-origins.ts";
import { isAllowedUrl, isPublicAddress } from "./address-rules.ts";
import {
  type EgressAnswer,
  type EgressReason,
  type EgressRequest,
  egressFault,
  isEgressFault,
} from "./egress-message.ts";
import { exchange } from "./http-exchange.ts";
import { createKeptConnections, type Line } from "./kept-connections.ts";

/**
 * The one door to the outside. Every request to an identity provider goes through here, at every use and not only when
 * a profile is saved: https on port 443 (or an origin that the operator allows), a plain ASCII host name, resolved once,
 * every address public, the connection made to the address that was checked. No redirect is followed, no proxy of the
 * environment is used, and time and size have ends. A connection is used again for half a minute at most, by the same profile
 * for the same origin, and only where the request asks for it; no request is ever sent twice.
 */
export type Egress = { send(request: EgressRequest): Promise<EgressAnswer> };

export type EgressDeps = {
  /** Origins that pass although they are http, on another port or inside. From the operator alone; each may be for a purpose or a store. */
  allowedOrigins: readonly string[];
  purpose?: OriginUse["purpose"];
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
/** A request that names no store gets no store's origins. */
const NO_STORE = "";

export function createEgress(deps: EgressDeps): Egress {
  const connect = deps.connect ?? connectTo;
  const connectMs = deps.connectMs ?? limits.idpConnectMs;
  const callMs = deps.callMs ?? limits.idpCallMs;
  const kept = createKeptConnections();

  async function send(request: EgressRequest): Promise<EgressAnswer> {
    const startedMs = performance.now();
    const { purpose } = deps;
    const allowed = originsFor(deps.allowedOrigins, { purpose, storeId: request.storeId ?? NO_STORE });
    if (!isAllowedUrl(request.url, allowed)) throw egressFault("address_not_allowed");
    const url = new URL(request.url);
    const key = request.keptFor === undefined ? undefined : `${request.keptFor} ${url.origin}`;
    const deadlineMs = startedMs + callMs;
    const known = key === undefined ? undefined : await kept.take(key);
    const line = known ?? (await open(url, allowed.includes(url.origin), deadlineMs));
    let isClean = false;
    try {
      const exchanged = await withDeadline(
        deadlineMs,
        exchange(line.socket, url, request, key !== undefined),
      );
      isClean = exchanged.isClean;
      return { ...exchanged.answer, elapsedMs: performance.now() - startedMs };
    } catch (error) {
      // Nobody can tell whether the other side has read it, so it is not sent again (RFC 9112 9.3.1).
      if (isEgressFault(error)) error.wasSent = true;
      if (known && key !== undefined) kept.distrust(key);
      throw error;
    } finally {
      if (isClean && key !== undefined) kept.giveBack(key, line);
      else line.socket.destroy();
    }
  }

  async function open(url: URL, isAllowed: boolean, deadlineMs: number): Promise<Line> {
    const resolve = deps.resolve ?? (isAllowed ? resolveLocally : resolvePublicly);
    const addresses = await withDeadline(deadlineMs, addressesOf(resolve, url, isAllowed));
    const socket = await connectFirst(addresses.slice(0, MAX_ADDRESSES), url, deadlineMs);
    return { socket, connectedAtMs: performance.now() };
  }

  /**
   * One dead address does not make a provider dead: they are tried in turn, and share the time there is to connect. Each has half of what
   * is left, so that a distant provider is reached at its first, and the last has the rest.
   */
  async function connectFirst(addresses: readonly string[], url: URL, deadlineMs: number): Promise<Socket> {
    const secure = url.protocol === "https:";
    const endMs = Math.min(deadlineMs, performance.now() + connectMs);
    let failure: unknown;
    for (const [at, address] of addresses.entries()) {
      const socket = connect({ address, port: portOf(url), host: bareHost(url), secure, ca: deps.ca });
      // Whoever waits hears of an error; after that there is nobody left to tell.
      socket.on("error", () => {});
      try {
        const isLast = at === addresses.length - 1;
        const limitMs = isLast ? endMs : (performance.now() + endMs) / 2;
        await withDeadline(limitMs, connected(socket, secure));
        return socket;
      } catch (error) {
        socket.destroy();
        failure = error;
        if (isEgressFault(error) && error.reason.startsWith("tls_")) break;
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
    // Given, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch it off otherwise.
    rejectUnauthorized: true,
    ...(ca && { ca }),
  });
}

function connected(socket: Socket, secure: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(secure ? "secureConnect" : "connect", resolve);
    socket.once("error", (cause: Error & { code?: string }) => {
      reject(egressFault(reasonOfCode(cause.code ?? ""), cause));
    });
  });
}

/** OpenSSL's names for what is wrong with a certificate, as Node passes them on. */
function reasonOfCode(code: string): EgressReason {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "tls_name";
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/.test(code)) return "tls_unknown_authority";
  if (/CERT_(HAS_EXPIRED|NOT_YET_VALID)/.test(code)) return "tls_expired";
  return /CERT|TLS|SSL/.test(code) ? "tls_failed" : "connect_failed";
}

function withDeadline<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(egressFault("too_slow"));
    const timer = setTimeout(late, Math.max(0, deadlineMs - performance.now()));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
