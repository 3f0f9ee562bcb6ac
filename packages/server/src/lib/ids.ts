import { randomUUIDv7 } from "node:crypto";

/** Ids sort by the millisecond in which they were made; within one, by chance. */
export const newId = (): string => randomUUIDv7();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isId = (text: string): boolean => text.length === 36 && UUID.test(text);

/** The millisecond in which an id of ours was made. */
export const timeOfId = (id: string): number => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);

export const idToBytes = (id: string): Buffer => Buffer.from(id.replaceAll("-", ""), "hex");

export function idFromBytes(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
