import { request as httpsRequest } from "node:https";
import { text as readText } from "node:stream/consumers";
import { request as httpRequest } from "../../lib/node-http.ts";

type TextAnswer = { status: number; text: string };

/** `form` is sent by POST. */
type Sent = { form?: URLSearchParams; token?: string };

/** Not `fetch`, which refuses some ports that a service may use, such as 6000 and 10080. */
export function ask(url: string, signal: AbortSignal, { form, token }: Sent = {}): Promise<TextAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<TextAnswer>();
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  const headers = {
    ...(form && { "content-type": "application/x-www-form-urlencoded" }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
  request(url, { agent: false, signal, headers, method: form ? "POST" : "GET" }, (answer) => {
    readText(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
  })
    .on("error", reject)
    .end(form && String(form));
  return promise;
}
