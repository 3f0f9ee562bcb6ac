import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Pieces, Serve } from "./message.ts";

/** Facts of a connection that a test can set, because there is no connection. */
type Env = { incoming?: { url?: string; socket?: { remoteAddress?: string; writable?: boolean } } };

/** The service as a function from a web Request to a Response, for an SDK or a test in the same process. */
export type Fetch = (request: Request, env?: Env) => Promise<Response>;

export const toFetch =
  (serve: Serve): Fetch =>
  async (request, { incoming } = {}) => {
    const {
      status,
      headers: fields,
      body,
    } = await serve({
      method: request.method,
      target: incoming?.url ?? request.url,
      headers: Object.fromEntries(request.headers),
      peer: incoming?.socket?.remoteAddress ?? "",
      isGone: () => incoming?.socket?.writable === false,
      readBytes: () => readBytes(request),
    });
    const headers = Object.entries(fields).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    );
    const isStream = typeof body === "object" && !Buffer.isBuffer(body);
    if (request.method !== "HEAD") return new Response(isStream ? toStream(body) : body, { status, headers });
    if (isStream) await body.return?.();
    return new Response(null, { status, headers });
  };

const toStream = (pieces: Pieces): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(Buffer.from(value));
    },
    cancel: async () => void (await pieces.return?.()),
  });

async function readBytes(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.length;
      if (length > limits.bodyBytes) throw new Problem("body_too_large");
      chunks.push(chunk);
    }
  } catch (cause) {
    throw cause instanceof Problem ? cause : new Problem("body_broke_off", { cause });
  }
  return Buffer.concat(chunks);
}
