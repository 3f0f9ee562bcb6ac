import type { Socket } from "node:net";
import { limits } from "../contract/limits.ts";
import { type OriginUse, originsFor } from "../lib/allowed-origins.ts";
import { isAllowedUrl } from "./address-rules.ts";
import { type ConnectTarget, connectTo, openConnection, withDeadline } from "./connect.ts";
import { type EgressAnswer, type EgressRequest, egressFault, isEgressFault } from "./egress-message.ts";
import { exchange } from "./http-exchange.ts";
import { createKeptConnections } from "./kept-connections.ts";

/**
 * The only way out: every request to an identity provider or to a webhook's receiver is checked here, at every use and
 * not only when a profile is saved. The URL must be https on port 443 with a plain ASCII host name, or have an origin
 * that the operator allows. The name is resolved once, every address must be public, and the connection is made to the
 * address that was checked. No redirect is followed, no proxy of the environment is used, and time and size have
 * limits. A connection is used again for half a minute at most, by the same profile for the same origin, and only where
 * the request asks for that. No request is sent twice.
 */
export type Egress = { send(request: EgressRequest): Promise<EgressAnswer> };

export type EgressDeps = {
  /** Origins that the operator allows although they are http, on another port or inside. */
  allowedOrigins: readonly string[];
  purpose?: OriginUse["purpose"];
  resolve?: (host: string) => Promise<string[]>;
  connect?: (to: ConnectTarget) => Socket;
  /** Certificates of a test's own authority. */
  ca?: string;
  connectMs?: number;
  callMs?: number;
};

/** A request that names no store gets no store's origins. */
const NO_STORE = "";

export function createEgress(deps: EgressDeps): Egress {
  const { resolve, ca, connect = connectTo } = deps;
  const { connectMs = limits.idpConnectMs, callMs = limits.idpCallMs } = deps;
  const kept = createKeptConnections();

  async function send(request: EgressRequest): Promise<EgressAnswer> {
    const startedMs = performance.now();
    const { purpose } = deps;
    const allowed = originsFor(deps.allowedOrigins, { purpose, storeId: request.storeId ?? NO_STORE });
    if (!isAllowedUrl(request.url, allowed)) throw egressFault("address_not_allowed");
    const url = new URL(request.url);
    const isAllowed = allowed.includes(url.origin);
    const key = request.keptFor === undefined ? undefined : `${request.keptFor} ${url.origin}`;
    const deadlineMs = startedMs + callMs;
    const known = key === undefined ? undefined : await kept.take(key);
    const connection =
      known ?? (await openConnection({ resolve, connect, ca, connectMs }, { url, isAllowed, deadlineMs }));
    let isClean = false;
    try {
      const exchanged = await withDeadline(
        deadlineMs,
        exchange(connection.socket, url, request, key !== undefined),
      );
      isClean = exchanged.isClean;
      return { ...exchanged.answer, elapsedMs: performance.now() - startedMs };
    } catch (error) {
      // The other side may have read the request, so it is not sent again (RFC 9112 9.3.1).
      if (isEgressFault(error)) error.wasSent = true;
      if (known && key !== undefined) kept.distrust(key);
      throw error;
    } finally {
      if (isClean && key !== undefined) kept.giveBack(key, connection);
      else connection.socket.destroy();
    }
  }

  return { send };
}
