import type { Sort } from "../../lib/condition.ts";
import type { Tables } from "../tables.ts";
import { beginning, bytes, type IndexKey, lower, plain } from "./list-key.ts";

/** An index behind the owner's columns. `partial`: it has only the rows whose first key is not null. */
export type ListIndex = { keys: readonly IndexKey[]; partial?: true };

export type ListDefinition = {
  /** The columns of the fields that a list may be filtered or ordered by. */
  fields: Readonly<Record<string, IndexKey>>;
  /** Indexes that find fewest rows come first. Each ends with the id, or another unique column. */
  indexes: readonly ListIndex[];
  /** The order without a `sort`. */
  order: Sort;
};

const sequence = plain("sequence");
const [id, createdAt, startedAt] = [plain("id"), plain("created_at"), plain("started_at")];

const byAge: ListDefinition = {
  fields: { created_at: createdAt },
  indexes: [{ keys: [createdAt, id] }],
  order: { field: "created_at", descending: false },
};

/** The indexes that lists are read by. A migration has created each, behind the owner's columns. */
export const LISTS = {
  application_keys: {
    ...byAge,
    fields: { ...byAge.fields, client_id: plain("client_id") },
    // A client id is unique among all stores: its column's own index finds it.
    indexes: [...byAge.indexes, { keys: [plain("client_id")] }],
  },
  authentication_realms: byAge,
  oidc_profiles: byAge,
  customer_tokens: byAge,
  members: byAge,
  integrations: byAge,
  // An integration has one delivery for each event, so `sequence` is unique.
  integration_deliveries: {
    fields: { sequence, status: plain("status"), type: plain("type") },
    indexes: [
      { keys: [plain("status"), sequence] },
      { keys: [plain("type"), sequence] },
      { keys: [sequence] },
    ],
    order: { field: "sequence", descending: true },
  },
  customers: {
    fields: {
      id,
      created_at: createdAt,
      updated_at: plain("updated_at"),
      name: lower("name"),
      email: bytes("email_key"),
      external_ref: beginning("external_ref"),
    },
    indexes: [
      { keys: [beginning("external_ref"), createdAt, id], partial: true },
      { keys: [bytes("email_key"), createdAt, id] },
      { keys: [lower("name"), bytes("name"), createdAt, id] },
      { keys: [createdAt, id] },
      { keys: [plain("updated_at"), id] },
      { keys: [id] },
    ],
    order: { field: "created_at", descending: true },
  },
  sign_ons: {
    fields: {
      started_at: startedAt,
      reference: plain("reference"),
      email: plain("email_digest"),
      request_id: plain("request_id"),
      customer_id: plain("customer_id"),
      reason: plain("reason"),
      outcome: plain("outcome"),
      profile_id: plain("profile_id"),
      key_id: plain("key_id"),
      test: plain("test"),
      of_members: plain("of_members"),
    },
    indexes: [
      { keys: [plain("reference"), startedAt, id] },
      { keys: [plain("request_id"), startedAt, id], partial: true },
      { keys: [plain("email_digest"), startedAt, id], partial: true },
      { keys: [plain("customer_id"), startedAt, id], partial: true },
      { keys: [plain("test"), startedAt, id], partial: true },
      { keys: [plain("of_members"), startedAt, id], partial: true },
      { keys: [plain("reason"), startedAt, id], partial: true },
      { keys: [plain("outcome"), startedAt, id] },
      { keys: [plain("profile_id"), startedAt, id] },
      { keys: [startedAt, id] },
    ],
    order: { field: "started_at", descending: true },
  },
} as const satisfies Partial<Record<keyof Tables, ListDefinition>>;

export type Listed = keyof typeof LISTS;

/** Throws for a field that the contract has and the list lacks. */
export function keyOf({ fields }: ListDefinition, field: string): IndexKey {
  const key = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (!key) throw new Error(`there is no column for the field ${field}`);
  return key;
}
