import { randomUUIDv7 } from "node:crypto";

let lastMillisecond = "";
let count = 0;

/**
 * UUIDs of version 7: they sort by the millisecond of creation. Within a millisecond of one process, the twelve bits
 * after the version count them (RFC 9562, section 6.2), so resources are listed in the order of their creation. The
 * other 62 bits are random.
 */
export function newId(): string {
  const id = randomUUIDv7();
  const millisecond = id.slice(0, 13);
  count = millisecond === lastMillisecond ? Math.min(count + 1, 0xfff) : 0;
  lastMillisecond = millisecond;
  return `${millisecond}-7${count.toString(16).padStart(3, "0")}${id.slice(18)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isId = (text: string): boolean => text.length === 36 && UUID.test(text);

/** The millisecond in which an id was made. */
export const timeOfId = (id: string): number => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);

export const idToBytes = (id: string): Buffer => Buffer.from(id.replaceAll("-", ""), "hex");

export function idFromBytes(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
