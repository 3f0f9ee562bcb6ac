import { randomUUIDv7 } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as argon2 from "@node-rs/argon2";
import { customerAnswer } from "./answers.ts";
import { type Ask, insertRow, type Row } from "./database.ts";
import { type Limit, openCustomerToken, signCustomerToken, storeOf } from "./limit-tokens.ts";
import { answerJson } from "./node-http.ts";

export const COST = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const PASSWORD = "correct horse battery staple";

type Customer = { id: string; email: string; password: string; token: string };

export async function makePassword(limit: Limit): Promise<Customer> {
  const [id, email] = [randomUUIDv7(), "password@shop.example"];
  await insertCustomer(limit, limit.ask, {
    id,
    name: "Ada",
    email,
    password_hash: await argon2.hash(PASSWORD, COST),
    mechanism: "password",
  });
  return { id, email, password: PASSWORD, token: (await insertToken(limit, id, "password")).data.token };
}

type NewCustomer = {
  id: string;
  name: string;
  email: string;
  password_hash: string | null;
  mechanism: string;
};

export async function insertCustomer({ storeId }: Limit, ask: Ask, customer: NewCustomer): Promise<void> {
  const { id, name, email, password_hash, mechanism } = customer;
  const now = Date.now();
  await insertRow(ask, "customers", {
    id,
    store_id: storeId,
    name,
    email,
    email_key: email,
    email_verified: 1,
    password_hash,
    authentication_mechanism: mechanism,
    created_at: now,
    updated_at: now,
  });
}

export async function insertToken(limit: Limit, customerId: string, mechanism: string, ask = limit.ask) {
  const tokenId = randomUUIDv7();
  const now = Date.now();
  await insertRow(ask, "customer_tokens", {
    id: tokenId,
    store_id: limit.storeId,
    customer_id: customerId,
    mechanism,
    profile_id: mechanism === "oidc" ? limit.profileId : null,
    created_at: now,
    expires_at: now + 86_400_000,
  });
  return signCustomerToken(limit, tokenId, customerId);
}

/** The work: a read, Argon2id, a new row, a signature. */
export async function checkPassword(limit: Limit, { email, password }: { email: string; password: string }) {
  const row = (await limit.ask(
    "select id, password_hash from customers where store_id = ? and email_key = ? and password_hash is not null",
    limit.storeId,
    email,
  )) as { id: string; password_hash: string };
  if (!(await argon2.verify(row.password_hash, password))) throw new Error("wrong password");
  return insertToken(limit, row.id, "password");
}

export async function signIn(limit: Limit, request: IncomingMessage, data: Row, response: ServerResponse) {
  storeOf(limit, request);
  answerJson(response, 200, await checkPassword(limit, data as { email: string; password: string }));
}

/** Two signatures, HMAC and ES256, and one read that joins the token and the customer. */
export async function readCustomer(limit: Limit, request: IncomingMessage, response: ServerResponse) {
  const storeId = storeOf(limit, request);
  const row = await limit.ask(
    `select c.* from customer_tokens t join customers c on c.store_id = t.store_id and c.id = t.customer_id
     where t.store_id = ? and t.id = ? and t.expires_at > ?`,
    storeId,
    openCustomerToken(limit, String(request.headers["x-customer-token"])),
    Date.now(),
  );
  answerJson(response, 200, customerAnswer(limit, row as never));
}
