import { expect } from "vitest";
import type { App } from "../../src/app.ts";
import { columnsOf, rowOf } from "../../src/contract/columns.ts";
import { type Operation, problemsOf } from "../../src/contract/operation.ts";
import { oauthProblemBody, problemBody } from "../../src/contract/shapes.ts";
import { csvRows } from "./csv.ts";
import { expectDeclaredFields } from "./declared-fields.ts";
import { observe } from "./observed.ts";
import { expectSilence } from "./silence.ts";

export type Call = {
  token?: string | undefined;
  ids?: Record<string, string>;
  query?: string;
  json?: unknown;
  form?: Record<string, string>;
  /** The body as sent, in place of `json` or `form`. */
  raw?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  headers?: Record<string, string>;
  /** The address of the sender. */
  peer?: string;
};

export type Answer = {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the contract has checked the body; a test may look into it
  body: any;
  code: string | undefined;
  codes: string[];
};

/**
 * Calls an operation and checks its answer against the contract: an undeclared status, problem or member fails the
 * test.
 */
export async function call(app: App, operation: Operation, request: Call = {}): Promise<Answer> {
  const sent = toRequest(operation, request);
  const response = await app.fetch(sent, {
    incoming: { socket: { remoteAddress: request.peer ?? "127.0.0.1" } },
  });
  const text = await textOf(response);
  expectSilence(app, sent, bodyOf(request), response, text);
  const contentType = response.headers.get("content-type") ?? "";
  const isJson = contentType.startsWith("application/json");
  const body = isJson ? JSON.parse(text) : text === "" ? undefined : text;
  const { success } = operation;
  const what = `${operation.id} answered ${response.status}: ${text.slice(0, 300)}`;

  expect(response.headers.get("x-request-id"), what).toBeTruthy();
  const isSuccess = [success.status, success.statusOnRequest].includes(response.status as 200);
  const cacheControl = isSuccess ? (success.cacheControl ?? "no-store") : "no-store";
  expect(response.headers.get("cache-control"), what).toBe(cacheControl);
  expect(response.headers.get("x-content-type-options"), what).toBe("nosniff");
  expect(response.headers.get("content-security-policy"), what).toMatch(POLICY);
  expectDeclaredFields(operation, response, what);
  if (operation.access === "browser") return browserAnswer(operation, response, text);
  if (isSuccess && contentType.startsWith("text/csv")) {
    const row = rowOf(operation);
    expect(row, `${what}; this is no list`).toBeDefined();
    if (row) expect(csvRows(text)[0], what).toEqual(columnsOf(row).map(({ name }) => name));
    observe(operation.id, `${response.status} text/csv`);
    return { status: response.status, headers: response.headers, body: text, code: undefined, codes: [] };
  }
  if (isSuccess) {
    const checked = success.schema?.safeParse(body);
    expect(checked?.error?.issues ?? [], what).toEqual([]);
    if (!success.schema) expect(text, what).toBe("");
    const names = Object.keys(success.fields?.shape ?? {});
    const fields = Object.fromEntries(names.map((name) => [name, response.headers.get(name) ?? undefined]));
    expect(success.fields?.safeParse(fields).error?.issues ?? [], what).toEqual([]);
    expect(response.headers.has("etag"), what).toBe(success.version !== undefined);
    observe(operation.id, String(response.status));
    return { status: response.status, headers: response.headers, body, code: undefined, codes: [] };
  }
  const shape = operation.access === "client" ? oauthProblemBody : problemBody;
  expect(shape.safeParse(body).error?.issues ?? [], what).toEqual([]);
  const codes: string[] = body.errors.map((error: { code: string }) => error.code);
  for (const code of codes) {
    expect(problemsOf(operation), `${what}; this problem is not declared`).toContain(code);
    observe(operation.id, code);
  }
  expect(body.errors[0].status, what).toBe(String(response.status));
  return { status: response.status, headers: response.headers, body, code: codes[0], codes };
}

const POLICY = /^default-src 'none';.*frame-ancestors 'none'/;

/** The beginning of a stream, which has no end. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get("content-type") !== "text/event-stream") return response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString();
}

/** A redirect, a page to choose from, or an error page: no script, and no text of the request in it. */
function browserAnswer(operation: Operation, response: Response, text: string): Answer {
  const { status, headers } = response;
  const what = `${operation.id} answered ${status}: ${text.slice(-400)}`;
  expect(headers.has("access-control-allow-origin"), what).toBe(false);
  expect(headers.get("x-frame-options"), what).toBe("DENY");
  if (status === 303) {
    expect(text, what).toBe("");
    observe(operation.id, "303");
    return { status, headers, body: undefined, code: undefined, codes: [] };
  }
  expect(headers.get("content-type"), what).toBe("text/html; charset=utf-8");
  expect(headers.has("location"), what).toBe(false);
  expect(text, what).not.toMatch(/<script/i);
  if (status === 200) {
    expect(operation.success.page, `${what}; a page is not declared`).toBeDefined();
    observe(operation.id, "200");
    return { status, headers, body: text, code: undefined, codes: [] };
  }
  const code = /data-problem="(\w+)"/.exec(text)?.[1] ?? "";
  expect(problemsOf(operation), `${what}; this problem is not declared`).toContain(code);
  observe(operation.id, code);
  return { status, headers, body: text, code, codes: [code] };
}

const bodyOf = ({ form, json }: Call): string =>
  form ? new URLSearchParams(form).toString() : json === undefined ? "" : JSON.stringify(json);

export function toRequest(operation: Operation, request: Call): Request {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => request.ids?.[name] ?? "");
  const headers = new Headers();
  if (request.token !== undefined) headers.set("authorization", `Bearer ${request.token}`);
  if (request.json !== undefined) headers.set("content-type", "application/json");
  if (request.form) headers.set("content-type", "application/x-www-form-urlencoded");
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  const body = request.raw ?? (bodyOf(request) || undefined);
  const init = {
    method: operation.method,
    headers,
    ...(body !== undefined && { body, duplex: "half" }),
  };
  return new Request(
    `http://internal${path}${request.query ? `?${request.query}` : ""}`,
    init as RequestInit,
  );
}
