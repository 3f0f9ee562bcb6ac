import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createApp } from "../packages/server/src/app.ts";
import { limits } from "../packages/server/src/contract/limits.ts";
import { createStore } from "../packages/server/src/create-store.ts";
import { steadyClock } from "../packages/server/src/lib/clock.ts";
import { createKeyring } from "../packages/server/src/lib/keyring.ts";
import { createLog } from "../packages/server/src/lib/log.ts";
import { openStorage } from "../packages/server/src/storage/open.ts";

/**
 * Measures the bytes that one sign-up leaves in a SQLite database, by table and index, and those that are written to disk
 * for it: a modest one, and the largest that a stranger and the back office can send. `node bench/sign-up-size.ts`
 */
const SIGN_UPS = 400;

type Kind = {
  name: string;
  grant: "implicit" | "client_credentials";
  of(at: number): Record<string, unknown>;
};

/** Three bytes in UTF-8, and one of the characters that lengths are counted in. */
const WIDE = "\u4e00";
const largest = (at: number, referenceLength: number) => ({
  name: WIDE.repeat(limits.nameLength),
  email: `${String(at).padStart(64, "a")}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(50)}.com`,
  external_ref: WIDE.repeat(referenceLength),
});
const kinds: Kind[] = [
  {
    name: "a modest one",
    grant: "implicit",
    of: (at) => ({ name: "Ada Lovelace", email: `ada.${at}@example.com`, password: "correct horse" }),
  },
  {
    name: "the largest of a stranger",
    grant: "implicit",
    of: (at) => largest(at, limits.publicExternalRefLength),
  },
  {
    name: "the largest of the back office",
    grant: "client_credentials",
    of: (at) => largest(at, limits.externalRefLength),
  },
];
const written = () => Number(/^write_bytes: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

for (const kind of kinds) {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-sign-ups-"));
  const file = join(folder, "latchkey.db");
  const clock = steadyClock();
  const storage = await openStorage({ clock }, `sqlite:${file}`);
  const log = createLog("error", { write: () => {} });
  const app = createApp({
    publicUrl: "https://keys.example",
    log,
    clock,
    storage,
    keyring: createKeyring([randomBytes(32)]),
  });
  const { key } = await createStore(
    { storage, clock },
    {
      name: "Sizes",
      rate_limit: 1_000_000,
      sign_ups_per_network: SIGN_UPS,
      sign_ups_per_hour: SIGN_UPS,
    },
  );
  const { access_token } = await send("/oauth/access_token", {
    grant_type: kind.grant,
    client_id: key.clientId,
    client_secret: key.clientSecret,
  });

  async function send(path: string, body: object, token?: string) {
    const headers = {
      "Content-Type": "application/json",
      ...(token && { Authorization: `Bearer ${token}` }),
    };
    const answer = await app.fetch(
      new Request(`https://keys.example${path}`, { method: "POST", headers, body: JSON.stringify(body) }),
    );
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { access_token: string };
  }

  await app.tidy();
  const before = sizes(file);
  const writtenBefore = written();
  for (let at = 0; at < SIGN_UPS; at++) {
    await send("/v2/customers", { data: { type: "customer", ...kind.of(at) } }, access_token);
    if (at % 10 === 9) await app.tidy();
  }
  await app.tidy();
  const writtenBytes = written() - writtenBefore;
  const after = sizes(file);
  const rows = [...after].map(([name, bytes]) => ({
    name,
    bytes: Math.round((bytes - (before.get(name) ?? 0)) / SIGN_UPS),
  }));
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(
    `\n${kind.name}: ${total} bytes kept, ${Math.round(writtenBytes / SIGN_UPS)} bytes written for one sign-up`,
  );
  console.table(rows.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes));
  await app.stop();
  await storage.close();
  rmSync(folder, { recursive: true });
}

/** By the payload that is used, not by whole pages. */
function sizes(file: string): Map<string, number> {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("select name, sum(pgsize) as bytes from dbstat group by name").all();
  database.close();
  return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
}
