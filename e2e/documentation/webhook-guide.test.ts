import { createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import { stripTypeScriptTypes } from "node:module";
import * as webhooks from "@latchkey/sdk/webhooks";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { limits } from "../../packages/server/src/contract/limits.ts";
import { DELAYS_MS } from "../../packages/server/src/integrations/retry-schedule.ts";
import { type Hooks, openHooks } from "../../packages/server/test/support/hooks.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";

/** Runs the receivers of docs/guides/webhooks.md, and sends them the service's messages. */

const guide = readFileSync(new URL("../../docs/guides/webhooks.md", import.meta.url), "utf8");
const guideOnOneLine = guide.replaceAll(/\s+/g, " ");
const modules: Record<string, object> = { "node:http": http, "@latchkey/sdk/webhooks": webhooks };

/** The receiver of the guide, exactly as printed. */
function load(environment: Record<string, string>, print: (line: string) => void): http.Server {
  const code = guide.match(/```ts\n([\s\S]*?)```/)?.[1] ?? "";
  const script = stripTypeScriptTypes(code)
    .replaceAll(/^import (\{.*\}) from ("[^"]+");$/gm, "const $1 = modules[$2];")
    .replace("export const receiver", "const receiver");
  const make = Function("modules", "process", "console", `${script}; return receiver;`);
  return make(modules, { env: environment }, { log: print });
}

describe("the receiver of the guide", () => {
  let hooks: Hooks;
  let receiver: http.Server;
  const lines: string[] = [];
  let url: string;

  beforeEach(async () => {
    lines.length = 0;
    const other = `whsec_${randomBytes(32).toString("base64")}`;
    const environment = { WEBHOOK_SECRETS: other };
    // The secrets are read when the receiver is loaded, so its address must be known before.
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    hooks = await openHooks({ allowedOrigins: [url] });
    const made = await hooks.integrate({ configuration: { url } });
    environment.WEBHOOK_SECRETS = `${other},${made.signing_secret}`;
    // The test sets the service's clock, and the receiver uses the same time.
    vi.useFakeTimers({ toFake: ["Date"], now: hooks.latchkey.clock.now() });
    receiver = load(environment, (line) => void lines.push(line));
    await new Promise<void>((resolve) => receiver.listen(port, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    vi.useRealTimers();
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
    await hooks.close();
  });

  test("accepts the service's messages, handles each once, and refuses messages of others", async () => {
    await hooks.customer("Ada");
    await hooks.deliver();
    expect(lines).toEqual(["welcome customer-1@shop.example"]);
    const [integration] = await hooks.latchkey.storage.db.selectFrom("integrations").select("id").execute();
    const [delivery] = await hooks.deliveries(integration?.id ?? "");
    expect(delivery).toMatchObject({ status: "delivered", attempts: [{ status: 204 }] });
    await hooks.latchkey.storage.db
      .updateTable("integration_deliveries")
      .set({ status: "waiting", next_attempt_at: 0 })
      .execute();
    await hooks.latchkey.storage.db.updateTable("integrations").set({ due_at: 0 }).execute();
    await hooks.deliver();
    expect((await hooks.deliveries(integration?.id ?? ""))[0].attempts).toHaveLength(2);
    expect(lines).toHaveLength(1);
    const forged = await fetch(url, { method: "POST", body: "{}" });
    expect(forged.status).toBe(400);
  });
});

test("verification in other languages › the steps of the guide give the service's signature", async () => {
  const hooks = await openHooks();
  const { signing_secret: secret } = await hooks.integrate();
  await hooks.customer();
  await hooks.deliver();
  const [{ headers, body }] = hooks.receiver.arrived as [(typeof hooks.receiver.arrived)[0]];
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const computed = createHmac("sha256", key)
    .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`)
    .update(body)
    .digest("base64");
  expect(String(headers["webhook-signature"]).split(" ")).toContain(`v1,${computed}`);
  await hooks.close();
});

test("the guide › has the figures of the code: attempts, limits", () => {
  const rows = [...guide.matchAll(/^\| (\d+) \| (at once|(\d+) (seconds|minutes|hours)) \|$/gm)];
  const unit: Record<string, number> = { seconds: 1000, minutes: 60_000, hours: 3_600_000 };
  expect(rows.map(([, , , count = "0", name = "seconds"]) => Number(count) * (unit[name] ?? 0))).toEqual([
    ...DELAYS_MS,
  ]);
  expect(guideOnOneLine).toContain(`A store can have ${limits.integrations} integrations`);
  expect(guideOnOneLine).toContain(`within ${limits.webhookCallMs / 1000} seconds`);
  expect(guideOnOneLine).toContain(`at most ${limits.webhookAnswerBytes / 1024} KB`);
  expect(guideOnOneLine).toContain(`kept for ${limits.deliveryDays} days`);
});
