import type { Api } from "../access.ts";
import { ApiError } from "../api-error.ts";
import type { Event } from "../contract.ts";
import { openStream, type StreamAnswer, type StreamOptions, type Wire } from "../exchange.ts";

export type Open = (path: string, options: StreamOptions) => Promise<StreamAnswer>;

/** The API, and its answers that are read piece by piece. */
export type AdminApi = Api & { open: Open };

/**
 * Opens a long or endless answer. A broken stream is not reopened: its reader knows after which event to continue.
 */
export const openerOf =
  (wire: Wire, { bearer }: Pick<Api, "bearer">): Open =>
  async (path, options) => {
    let refused: string | undefined;
    for (;;) {
      const token = await bearer(refused);
      const outcome = await openStream(wire, { method: "GET", path }, token, options);
      if (!outcome.error) return outcome;
      if (outcome.error.status !== 401 || refused) throw outcome.error;
      refused = token;
    }
  };

/**
 * Parses the part of server-sent events (WHATWG HTML 9.2.6) that the service uses: `data` of each message is
 * an event.
 */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Event, void, undefined> {
  let text = "";
  for await (const piece of readText(stream)) {
    text += piece;
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const lines = message.split("\n").filter((line) => line.startsWith("data:"));
      if (lines.length > 0) yield JSON.parse(lines.map((line) => line.slice(5)).join("\n")) as Event;
    }
  }
}

/** The text of a stream as it arrives. Throws `network_failed` if the answer breaks off. */
export async function* readText(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // Not `for await`: some browsers have no async iteration of streams.
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new ApiError("network_failed", "The stream broke off.", { cause });
      });
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
