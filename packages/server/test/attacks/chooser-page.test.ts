import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import { authorize, authorizeByForm } from "../../src/contract/sign-on.ts";
import { newId } from "../../src/lib/ids.ts";
import { type Answer, call } from "../support/call.ts";
import { engines } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";

/**
 * The attack: a stranger asks for the page of providers with the longest possible request. The page once repeated
 * the request for each provider: 769 KB and 24 ms for a request of 12 KB.
 */

const PROVIDERS = 64;
const LONGEST = {
  prompt: "p".repeat(limits.promptLength),
  display: "d".repeat(limits.displayLength),
  ui_locales: "l".repeat(limits.uiLocalesLength),
  login_hint: "h".repeat(limits.loginHintLength),
};

const errorOf = (answer: Answer) => {
  const { searchParams } = new URL(answer.headers.get("location") ?? "");
  return [searchParams.get("error"), searchParams.get("reason"), searchParams.get("state")];
};

describe.each(engines.filter(({ isHere }) => isHere))("the page of providers on $name", (engine) => {
  let f: Federation;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const database = await engine.create();
    drop = database.drop;
    f = await createFederation({ databaseUrl: database.url });
    const { db } = f.latchkey.storage;
    const [profile] = await db.selectFrom("oidc_profiles").selectAll().execute();
    if (!profile) throw new Error("there is no profile to copy");
    const copies = Array.from({ length: PROVIDERS - 1 }, (_, at) => ({
      ...profile,
      id: newId(),
      name: `Provider ${at}`,
    }));
    await db.insertInto("oidc_profiles").values(copies).execute();
  });
  afterAll(async () => {
    await f.close();
    await drop();
  });

  const ids = () => ({ store: f.store.store.id, realm: f.realmId });
  const get = (changes: Record<string, string> = {}, more = "") => {
    const query = `${new URLSearchParams(f.parameters({ profile: undefined, ...changes }))}${more}`;
    return call(f.latchkey.app, authorize, { ids: ids(), query });
  };
  const post = (changes: Record<string, string>) => {
    const form = f.parameters({ profile: undefined, ...changes });
    return call(f.latchkey.app, authorizeByForm, { ids: ids(), form });
  };

  test("has the request once for any number of providers", async () => {
    const marker = "marker-of-this-request";
    for (const ask of [get, post]) {
      const answer = await ask({ ...LONGEST, state: marker.padEnd(limits.clientStateLength, "s") });
      expect(answer.status).toBe(200);
      expect(answer.body.split(marker)).toHaveLength(2);
      expect(answer.body.match(/<button /g)).toHaveLength(PROVIDERS);
    }
  });

  test("is no larger than the request and a line for each provider", async () => {
    const small = (await get()).body.length;
    expect(small).toBeLessThan(6000 + PROVIDERS * 200);
    const large = (await get({ ...LONGEST, state: "s".repeat(2048), nonce: "n".repeat(512) })).body.length;
    expect(large - small).toBeLessThan(4096);
  });

  test("has no unknown parameters and no ignored scopes", async () => {
    const plain = await get();
    const scope = `openid email ${"s".repeat(3000)}`;
    const odd = await get({ scope, state: "the storefront's state" }, `&junk=${"j".repeat(3000)}`);
    const withoutChallenge = (body: string) => body.replaceAll(/[\w-]{43}/g, "");
    expect(odd.status).toBe(200);
    expect(withoutChallenge(odd.body)).toBe(withoutChallenge(plain.body));
  });

  test.each(Object.entries(LONGEST))(
    "%s › 303 invalid_request when it is too long or repeated",
    async (name, longest) => {
      for (const ask of [get, post]) {
        const refused = await ask({ [name]: `${longest}x` });
        expect(errorOf(refused)).toEqual(["invalid_request", "parameter_too_long", "the storefront's state"]);
      }
      expect(errorOf(await get({ [name]: "a" }, `&${name}=b`)).slice(0, 2)).toEqual([
        "invalid_request",
        "parameter_repeated",
      ]);
    },
  );
});
