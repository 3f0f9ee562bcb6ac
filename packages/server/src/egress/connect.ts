import { lookup, Resolver } from "node:dns/promises";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { limits } from "../contract/limits.ts";
import { isPublicAddress } from "./address-rules.ts";
import { type EgressReason, egressFault, isEgressFault } from "./egress-message.ts";
import type { OpenConnection } from "./kept-connections.ts";

/** From a host name to a connection: resolve, check every address, connect. */

export type ConnectTarget = {
  address: string;
  port: number;
  host: string;
  secure: boolean;
  ca: string | undefined;
};

type ConnectDeps = {
  resolve: ((host: string) => Promise<string[]>) | undefined;
  connect: (to: ConnectTarget) => Socket;
  ca: string | undefined;
  connectMs: number;
};

/** `isAllowed`: the operator allows the origin, so its addresses need not be public. */
type OpenRequest = { url: URL; isAllowed: boolean; deadlineMs: number };

const MAX_ADDRESSES = 3;

/**
 * Tries the addresses in turn, so that one dead address does not make a provider dead. They share the time to connect:
 * each gets half of what is left, so that a distant provider is reached at its first address, and the last one gets the
 * rest.
 */
export async function openConnection(deps: ConnectDeps, request: OpenRequest): Promise<OpenConnection> {
  const { url, deadlineMs } = request;
  const found = await withDeadline(deadlineMs, addressesOf(deps, request));
  const addresses = found.slice(0, MAX_ADDRESSES);
  const secure = url.protocol === "https:";
  const endMs = Math.min(deadlineMs, performance.now() + deps.connectMs);
  let failure: unknown;
  for (const [at, address] of addresses.entries()) {
    const target = { address, port: portOf(url), host: bareHost(url), secure, ca: deps.ca };
    const socket = deps.connect(target);
    // `connected` rejects on an error while it waits; a later error must not end the process.
    socket.on("error", () => {});
    try {
      const isLast = at === addresses.length - 1;
      const limitMs = isLast ? endMs : (performance.now() + endMs) / 2;
      await withDeadline(limitMs, connected(socket, secure));
      return { socket, connectedAtMs: performance.now() };
    } catch (error) {
      socket.destroy();
      failure = error;
      if (isEgressFault(error) && error.reason.startsWith("tls_")) break;
    }
  }
  throw failure;
}

const bareHost = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");
const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);

/** As the machine does it, with its hosts file: for origins that the operator has allowed. */
async function resolveLocally(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}

/** By DNS alone, outside the thread pool that the whole process shares: a name server may hang. */
async function resolvePublicly(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: limits.idpConnectMs, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return found.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
}

/** All addresses must be public, not only the address that is used: a name that also points inside is an attack. */
async function addressesOf(
  { resolve: given }: ConnectDeps,
  { url, isAllowed }: OpenRequest,
): Promise<string[]> {
  const host = bareHost(url);
  const resolve = given ?? (isAllowed ? resolveLocally : resolvePublicly);
  const addresses = isIP(host)
    ? [host]
    : await resolve(host).catch((cause) => Promise.reject(egressFault("host_unknown", cause)));
  if (addresses.length === 0) throw egressFault("host_unknown");
  if (!isAllowed && !addresses.every(isPublicAddress)) throw egressFault("host_not_public");
  return addresses;
}

export function connectTo({ address, port, host, secure, ca }: ConnectTarget): Socket {
  if (!secure) return connectPlain({ host: address, port });
  // A host name is sent as SNI and compared with the certificate; an address has no SNI, and is compared as an address.
  return connectTls({
    host: address,
    port,
    ...(isIP(host) ? {} : { servername: host }),
    ALPNProtocols: ["http/1.1"],
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch the check off.
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

/** OpenSSL's codes for a bad certificate, as Node passes them on. */
function reasonOfCode(code: string): EgressReason {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "tls_name";
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/.test(code)) return "tls_unknown_authority";
  if (/CERT_(HAS_EXPIRED|NOT_YET_VALID)/.test(code)) return "tls_expired";
  return /CERT|TLS|SSL/.test(code) ? "tls_failed" : "connect_failed";
}

export function withDeadline<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(egressFault("too_slow"));
    const timer = setTimeout(late, Math.max(0, deadlineMs - performance.now()));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
