import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { request as httpRequest } from "../lib/node-http.ts";
import { type EgressAnswer, type EgressRequest, egressFault, isEgressFault } from "./egress-message.ts";

/** `isClean`: the answer was complete, no byte followed it, and the connection may carry another request. */
type HttpExchange = { answer: Omit<EgressAnswer, "elapsedMs">; isClean: boolean };

/** Sends a request on an open connection and reads its answer. */
export function exchange(
  socket: Socket,
  url: URL,
  request: EgressRequest,
  mayKeep: boolean,
): Promise<HttpExchange> {
  return new Promise((resolve, reject) => {
    const broken = (cause: unknown) =>
      reject(isEgressFault(cause) ? cause : egressFault("answer_broken", cause));
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
        Connection: mayKeep ? "keep-alive" : "close",
        "User-Agent": "latchkey",
        ...request.headers,
        ...(request.body !== undefined && { "Content-Length": String(Buffer.byteLength(request.body)) }),
      },
    });
    const received = createReceived();
    // Node has removed its own listeners before it emits `close`.
    const over = new Promise<void>((resolve) => {
      outgoing.once("close", () => {
        socket.off("data", received.count);
        socket.off("error", broken);
        resolve();
      });
    });
    socket.once("error", broken);
    outgoing.on("socket", () => socket.prependListener("data", received.count));
    outgoing.on("error", broken);
    outgoing.on("upgrade", broken);
    outgoing.on("response", (incoming) => {
      readAnswer(incoming, request).then(async ({ isCut, ...answer }) => {
        const isKeptThere = outgoing.shouldKeepAlive && !isClosedSoon(answer.headers["keep-alive"]);
        const isClean = mayKeep && isKeptThere && !isCut && received.isJust(incoming);
        if (isClean) await over;
        resolve({ answer, isClean: isClean && !socket.destroyed });
      }, broken);
    });
    outgoing.end(request.body);
  });
}

/** `Keep-Alive: timeout=1` or less: the server closes the connection too soon for another request. */
const isClosedSoon = (keepAlive = ""): boolean => /\btimeout\s*=\s*"?0*[01]\b/i.test(keepAlive);

const LAST_CHUNK = "0\r\n\r\n";

/**
 * Counts the bytes of the socket beside Node's parser. The parser discards the beginning of a second answer behind the
 * first, and the rest of it would be taken for the answer to the next request.
 */
function createReceived() {
  let head = "";
  let bytes = 0;
  let tail = "";
  return {
    count(chunk: Buffer): void {
      if (!head.includes("\r\n\r\n")) head += chunk.toString("latin1");
      bytes += chunk.length;
      tail = (tail + chunk.subarray(-LAST_CHUNK.length).toString("latin1")).slice(-LAST_CHUNK.length);
    },
    /** The socket has sent this answer and no byte more. The answer must announce its end, by length or by chunks. */
    isJust({ headers, statusCode }: IncomingMessage): boolean {
      const { "transfer-encoding": coding } = headers;
      // 204 ends with its head, and has no length (RFC 9110 8.6).
      const length = headers["content-length"] ?? (statusCode === 204 ? "0" : undefined);
      if (coding !== undefined) return coding === "chunked" && tail === LAST_CHUNK;
      return length !== undefined && bytes === head.indexOf("\r\n\r\n") + 4 + Number(length);
    },
  };
}

function readAnswer(
  incoming: IncomingMessage,
  { maxBytes, cutsAnswer }: EgressRequest,
): Promise<HttpExchange["answer"] & { isCut: boolean }> {
  return new Promise((resolve, reject) => {
    const encoding = incoming.headers["content-encoding"] ?? "identity";
    const isEncoded = encoding.toLowerCase() !== "identity";
    const isTooLarge = Number(incoming.headers["content-length"] ?? 0) > maxBytes;
    if (!cutsAnswer && isEncoded) throw egressFault("answer_encoded");
    if (!cutsAnswer && isTooLarge) throw egressFault("too_large");
    const chunks: Buffer[] = [];
    let length = 0;
    const end = () => {
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).flatMap(([name, value]) =>
          typeof value === "string" ? [[name, value]] : [],
        ),
      );
      const body = Buffer.concat(chunks).subarray(0, isEncoded ? 0 : maxBytes);
      resolve({ status: incoming.statusCode ?? 0, headers, body, isCut: length > maxBytes });
    };
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes || cutsAnswer) chunks.push(chunk);
      if (length <= maxBytes) return;
      if (!cutsAnswer) return reject(egressFault("too_large"));
      incoming.pause();
      end();
    });
    incoming.on("error", reject);
    incoming.on("end", end);
  });
}
