import { afterAll, beforeAll, expect, test } from "vitest";
import { getApplicationKey, updateApplicationKey } from "../src/contract/application-keys.ts";
import { createTestApp, type TestApp, type TestStore } from "./support/app.ts";

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore(100_000);
});
afterAll(() => latchkey.close());

const send = (raw: string | Uint8Array<ArrayBuffer>, type = "application/json") =>
  store.call(updateApplicationKey, { ids: { id: store.key.id }, raw, headers: { "content-type": type } });

const good = '"type":"application_key","name":"n"';
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));

const hostile: [string, string | Uint8Array<ArrayBuffer>][] = [
  ["__proto__ at the top", `{"__proto__":{"admin":true},"data":{${good}}}`],
  ["__proto__ below", `{"data":{${good},"__proto__":{"admin":true}}}`],
  ["__proto__, escaped", `{"data":{${good},"__pr\\u006fto__":{"admin":true}}}`],
  ["constructor.prototype", `{"data":{${good},"constructor":{"prototype":{"admin":true}}}}`],
  ["a member named twice", `{"data":{${good},"name":"m"}}`],
  ["a member named twice, escaped", `{"data":{${good},"n\\u0061me":"m"}}`],
  ["10,000 levels", `{"data":${"[".repeat(5000)}${"]".repeat(5000)}}`],
  ["nine levels", `{"data":{"x":[[[[[[[1]]]]]]],${good}}}`],
  ["1e400 as a reservation", `{"data":{${good},"reserved_rate_limit":1e400}}`],
  ["a reservation of twenty digits", `{"data":{${good},"reserved_rate_limit":12345678901234567890}}`],
  ["half of a surrogate pair", `{"data":{"type":"application_key","name":"\\ud800"}}`],
  ["a NUL", `{"data":{"type":"application_key","name":"n","x":"\\u0000"}}`],
  ["a byte order mark", bytes([0xef, 0xbb, 0xbf], `{"data":{${good}}}`)],
  ["bytes that are not UTF-8", bytes('{"data":{"type":"application_key","name":"', [0xff, 0xfe], '"}}')],
  ["something after the end", `{"data":{${good}}}{}`],
  ["nothing", ""],
  ["an array", "[]"],
  ["a text", '"x"'],
  ["null", "null"],
  ["data that is an array", '{"data":[]}'],
  ["data that is null", '{"data":null}'],
  ["a comment", `{"data":{${good}}/**/}`],
  ["NaN", `{"data":{${good},"reserved_rate_limit":NaN}}`],
];

test.each(hostile)("400 for a body with %s; no row and no prototype changes (T38)", async (_, raw) => {
  const before = (await store.call(getApplicationKey, { ids: { id: store.key.id } })).body;
  expect((await send(raw)).status).toBe(400);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
  expect((await store.call(getApplicationKey, { ids: { id: store.key.id } })).body).toEqual(before);
});

test.each([
  "application/json",
  "APPLICATION/JSON",
  "application/json; charset=utf-8",
  "application/json ; charset=utf-8",
  'application/json;charset="UTF-8"',
])("200 for the media type %s (T37)", async (type) => {
  expect((await send(`{"data":{${good}}}`, type)).status).toBe(200);
});

test("200 for a body of exactly 16 KB", async () => {
  const frame = `{"data":{${good}},"x":""}`;
  expect((await send(frame.replace('""', `"${"x".repeat(16 * 1024 - frame.length)}"`))).status).toBe(200);
});

test("200 for member names with JSON escapes", async () => {
  const { body } = await send(
    String.raw`{"\u0064ata":{"type":"application_key","n\u0061me" :"Escaped","Gr\u00f6\u00dfe":1,"\"":2,"\\":3}}`,
  );
  expect(body.data.name).toBe("Escaped");
});

test("200 for a name in any script", async () => {
  const { body } = await send('{"data":{"type":"application_key","name":"キー 🔑 clé"}}');
  expect(body.data.name).toBe("キー 🔑 clé");
});
