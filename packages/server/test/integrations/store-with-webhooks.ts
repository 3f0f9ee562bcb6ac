import { createHmac } from "node:crypto";
import { afterEach, beforeEach, expect } from "vitest";
import { updateIntegration } from "../../src/contract/integrations.ts";
import { type Hooks, openHooks } from "../support/hooks.ts";
import type { Arrived } from "../support/receiver.ts";

export const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;

/** A fresh store and receiver for each test; the hooks of `storeWithWebhooks` set it. */
export let hooks: Hooks;

export function storeWithWebhooks(): void {
  beforeEach(async () => {
    hooks = await openHooks({ random: () => 0.5 });
  });
  afterEach(() => hooks.close());
}

export const change = (id: string, data: object) =>
  hooks.store.call(updateIntegration, { ids: { id }, json: { data: { type: "integration", ...data } } });

export const typesArrived = () => hooks.receiver.arrived.map(({ json }) => json.type);

export const signaturesOf = ({ headers }: Arrived) => String(headers["webhook-signature"]).split(" ");

/** The signature of the Standard Webhooks specification, computed without the code of the service. */
export function signatureOf({ headers, body }: Arrived, secret: string): string {
  const key = Buffer.from(secret.slice(6), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

export const only = (): Arrived => {
  expect(hooks.receiver.arrived).toHaveLength(1);
  return hooks.receiver.arrived[0] as Arrived;
};
