import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type HonestIdp, newCookieJar, type Person } from "../support/honest-idp.ts";
import { type Answer, isGood, type Notebook, type Target, untilAnswered } from "./ask.ts";
import type { Deed } from "./history.ts";
import { FLOOR, type Key, type Shop, STOREFRONT, TIGHT_LIMIT } from "./shop.ts";

/** The clients of a fleet. Each runs until the end of the test, and spreads its requests over the instances. */
export type World = {
  notebook: Notebook;
  shop: Shop;
  idp: HonestIdp;
  publicUrl: string;
  /** An instance, each time the next one. */
  pick(): Target;
  everywhere(): Target[];
  /** Whether two shoppers sign on as the same new person at the same time. */
  racesForPeople: boolean;
  isOver(): boolean;
};
type Client = (world: World, index: number) => Promise<void>;

/** Bounded, so that a test that forgets to end it does not hang. */
const ROUNDS = 100_000;
/** Several clients: two cores serve all of them and the fleet. */
const PAUSE_MS = 25;

const bearer = ({ shop }: World) => shop.work.admin;

type SignedOn = { code: string; verifier: string };
type TokenOf = { tokenId: string; token: string; customer: string };

/** The steps of a browser: authorize here, the identity provider, callback there. */
export async function signOn(
  world: World,
  person: Person,
  [first, second]: readonly [Target, Target],
): Promise<SignedOn | undefined> {
  const { notebook, shop, idp, publicUrl } = world;
  const { id, realmId, profileId } = shop.work;
  const verifier = randomBytes(32).toString("base64url");
  const jar = newCookieJar();
  const query = new URLSearchParams({
    profile: profileId,
    scope: "openid email",
    response_type: "code",
    client_id: "customers",
    redirect_uri: STOREFRONT,
    state: randomUUID(),
    code_challenge_method: "S256",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  });
  const authorize = `/sign-on/stores/${id}/realms/${realmId}/authorize?${query}`;
  const begun = await notebook.ask(first, { path: authorize });
  const atIdp = begun.headers.get("location") ?? "";
  if (!atIdp.startsWith(idp.origin)) return undefined;
  jar.keep(publicUrl, new Response(null, { headers: begun.headers }));
  const back = await idp.walk(atIdp, jar, person);
  const codeIn = ({ headers }: Answer) =>
    new URLSearchParams(headers.get("location")?.split("?")[1]).get("code") ?? undefined;
  const identity = [id, realmId, profileId, idp.origin, person.sub].join(" ");
  const returned = await notebook.ask(second, {
    path: back.slice(publicUrl.length),
    headers: jar.headersFor(back),
    deed: (answer) => {
      const code = codeIn(answer);
      return code === undefined ? { did: "other" } : { did: "signOn", code, identity };
    },
  });
  const code = codeIn(returned);
  if (code === undefined) return undefined;
  for (const secret of [verifier, code]) notebook.secrets.add(secret);
  return { code, verifier };
}

export function redeem(
  { notebook, shop }: World,
  target: Target,
  { code, verifier }: SignedOn,
  idempotencyKey?: string,
): Promise<Answer> {
  return notebook.ask(target, {
    method: "POST",
    path: "/v2/customers/tokens",
    token: shop.work.implicit,
    ...(idempotencyKey && { headers: { "idempotency-key": idempotencyKey } }),
    data: {
      type: "token",
      authentication_mechanism: "oidc",
      oauth_authorization_code: code,
      oauth_redirect_uri: STOREFRONT,
      oauth_code_verifier: verifier,
    },
    deed: (answer) => ({
      did: "redeem",
      code,
      idempotencyKey,
      ...(isGood(answer) && { given: { tokenId: answer.data.id, customer: answer.data.customer_id } }),
    }),
  });
}

export const tokenOf = ({ notebook }: World, { data }: Answer): TokenOf => {
  notebook.secrets.add(data.token);
  return { tokenId: data.id, token: data.token, customer: data.customer_id };
};

/** The shopper's requests with the customer token. */
export const visit = ({ notebook, shop }: World, target: Target, { customer, tokenId, token }: TokenOf) =>
  notebook.ask(target, {
    path: `/v2/customers/${customer}`,
    token: shop.work.implicit,
    headers: { "x-customer-token": token },
    deed: () => ({ did: "use", what: `token ${tokenId}` }),
  });

const signOut = (world: World, { customer, tokenId }: TokenOf) =>
  world.notebook.ask(world.pick(), {
    method: "DELETE",
    path: `/v2/customers/${customer}/tokens/${tokenId}`,
    token: bearer(world),
    deed: () => ({ did: "revoke", what: `token ${tokenId}` }),
  });

/**
 * Two of these sign on as every new person at the same time, if they race. Every third one redeems without an
 * Idempotency-Key, and tries again.
 */
const shopper: Client = async (world, index) => {
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    const who = world.racesForPeople ? `${round}` : `${index}-${round}`;
    const person = { sub: `person-${who}`, email: `${who}@shop.example`, email_verified: true };
    const signedOn = await signOn(world, person, [world.pick(), world.pick()]);
    if (!signedOn) {
      await sleep(8 * PAUSE_MS);
      continue;
    }
    const key = (round + index) % 3 === 0 ? undefined : randomUUID();
    const given = key
      ? await untilAnswered(world.isOver, () => redeem(world, world.pick(), signedOn, key))
      : await redeem(world, world.pick(), signedOn);
    if (!key) await redeem(world, world.pick(), signedOn);
    if (isGood(given)) {
      const token = tokenOf(world, given);
      await visit(world, world.pick(), token);
      if (round % 2 === 0) await signOut(world, token);
      await visit(world, world.pick(), token);
    }
    await sleep(8 * PAUSE_MS);
  }
};

const keyDeed =
  (id: string | undefined, value: string | undefined) =>
  ({ data }: Answer): Deed => {
    const row = `key ${id ?? data.id}`;
    const updatedAt = data.meta?.timestamps?.updated_at;
    return { did: "write", row, value, ...(updatedAt && { updatedAt }) };
  };

const readKey = (world: World, target: Target, id: string, token: string, showsName = true) =>
  world.notebook.ask(target, {
    path: `/v2/application-keys/${id}`,
    token,
    deed: ({ data }) => ({
      did: "read",
      row: `key ${id}`,
      ...(showsName && { value: data.name }),
      updatedAt: data.meta?.timestamps?.updated_at,
      lastUsedAt: data.meta?.timestamps?.last_used_at,
    }),
  });

/** Creates a key, renames it repeatedly, reads it elsewhere, deletes it, and starts again. */
const keyWriter: Client = async (world, index) => {
  const token = bearer(world);
  let id: string | undefined;
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    const name = `name ${index} ${round}`;
    const data = { type: "application_key", name };
    if (id === undefined) {
      const make = {
        method: "POST",
        path: "/v2/application-keys",
        token,
        data,
        deed: keyDeed(undefined, name),
      };
      const made = await world.notebook.ask(world.pick(), make);
      if (isGood(made)) {
        id = made.data.id as string;
        world.notebook.secrets.add(made.data.client_secret);
      }
    } else if (round % 12 === 11) {
      const path = `/v2/application-keys/${id}`;
      await world.notebook.ask(world.pick(), { method: "DELETE", path, token, deed: keyDeed(id, undefined) });
      await readKey(world, world.pick(), id, token);
      id = undefined;
    } else {
      const path = `/v2/application-keys/${id}`;
      await world.notebook.ask(world.pick(), { method: "PUT", path, token, data, deed: keyDeed(id, name) });
      await readKey(world, world.pick(), id, token);
    }
    await sleep(PAUSE_MS);
  }
};

/** A change of a realm is one statement, a change of a customer a transaction. */
const backOffice: Client = async (world, index) => {
  const token = bearer(world);
  const { ask } = world.notebook;
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    const [first, second] = ["first", "second"].map((name) => `${name} ${index} ${round}`);
    for (const [type, path] of [
      ["authentication-realm", "/v2/authentication-realms"],
      ["customer", "/v2/customers"],
    ] as const) {
      const email = type === "customer" ? { email: `office-${index}-${round}@shop.example` } : {};
      const deed =
        (value: string | undefined) =>
        ({ data }: Answer): Deed => ({ did: "write", row: `${type} ${id ?? data.id}`, value });
      let id: string | undefined;
      const data = { type, name: first, ...email };
      const made = await ask(world.pick(), { method: "POST", path, token, data, deed: deed(first) });
      if (!isGood(made)) continue;
      id = made.data.id as string;
      const of = { path: `${path}/${id}`, token };
      const read = () =>
        ask(world.pick(), {
          ...of,
          deed: ({ data }) => ({ did: "read", row: `${type} ${id}`, value: data.name }),
        });
      await ask(world.pick(), { ...of, method: "PUT", data: { type, name: second }, deed: deed(second) });
      await read();
      if (round % 2 === 0) await ask(world.pick(), { ...of, method: "DELETE", deed: deed(undefined) });
      await read();
    }
    await sleep(4 * PAUSE_MS);
  }
};

/** Two of these keep reserving three fifths of a limit each. */
const reserver: Client = async (world, index) => {
  const { admin, keys } = world.shop.tight;
  const { id } = keys[index % 2] as Key;
  const reserve = (name: string, reserved_rate_limit: number) =>
    world.notebook.ask(world.pick(), {
      method: "PUT",
      path: `/v2/application-keys/${id}`,
      token: admin,
      data: { type: "application_key", name, reserved_rate_limit },
      deed: keyDeed(id, name),
    });
  // No client has written the name that the row has at the beginning.
  await untilAnswered(world.isOver, () => reserve(`begins ${randomUUID()}`, 0));
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    await reserve(`reserved ${round}`, round % 2 === 0 ? TIGHT_LIMIT * 0.6 : 0);
    await readKey(world, world.pick(), id, admin);
    await sleep(2 * PAUSE_MS);
  }
};

const REVOKED_FOR_MS = 1500;

/** Uses an access token everywhere, revokes it somewhere, and uses it for longer than any instance may accept it. */
const revoker: Client = async (world) => {
  const { notebook, shop } = world;
  const { client_id, client_secret } = shop.work.made.application_key;
  notebook.secrets.add(client_secret);
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    const what = `access ${round}`;
    const form = { grant_type: "client_credentials", client_id, client_secret };
    const issue = {
      method: "POST",
      path: "/oauth/access_token",
      form,
      deed: (): Deed => ({ did: "make", what }),
    };
    const issued = await notebook.ask(world.pick(), issue);
    if (isGood(issued)) {
      const token = issued.data.access_token as string;
      notebook.secrets.add(token);
      const use = (target: Target) =>
        notebook.ask(target, { path: "/v2/store", token, deed: () => ({ did: "use", what }) });
      await Promise.all(world.everywhere().map(use));
      const revoked = await notebook.ask(world.pick(), {
        method: "POST",
        path: "/oauth/revoke",
        form: { token, client_id, client_secret },
        deed: () => ({ did: "revoke", what }),
      });
      const untilMs = performance.now() + REVOKED_FOR_MS;
      while (isGood(revoked) && performance.now() < untilMs) {
        await Promise.all(world.everywhere().map(use));
        await sleep(150);
      }
    }
    await sleep(4 * PAUSE_MS);
  }
};

/** Signs in with a password that changes repeatedly; each change ends the earlier session. */
const passwordShopper: Client = async (world, index) => {
  const { notebook, shop } = world;
  const email = `password-${index}@shop.example`;
  let password = randomUUID();
  const write = (method: string, path: string, data: object, deed?: () => Deed) =>
    untilAnswered(world.isOver, () => {
      const body = { type: "customer", ...data };
      return notebook.ask(world.pick(), {
        method,
        path,
        token: bearer(world),
        data: body,
        ...(deed && { deed }),
      });
    });
  const made = await write("POST", "/v2/customers", { name: "Ada", email, password });
  if (!isGood(made)) return;
  const customer = made.data.id as string;
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    notebook.secrets.add(password);
    const given = await notebook.ask(world.pick(), {
      method: "POST",
      path: "/v2/customers/tokens",
      token: shop.work.implicit,
      data: { type: "token", email, password },
      deed: ({ data }) => ({ did: "make", what: `token ${data.id}` }),
    });
    if (isGood(given)) {
      const token = tokenOf(world, given);
      await visit(world, world.pick(), token);
      password = randomUUID();
      await write("PUT", `/v2/customers/${customer}`, { password }, () => ({
        did: "revoke",
        what: `token ${token.tokenId}`,
      }));
      await visit(world, world.pick(), token);
    }
    await sleep(12 * PAUSE_MS);
  }
};

/** The frequent reads of storefronts and programs, and the last_used_at of a busy key. */
const reader: Client = async (world) => {
  const { notebook, shop } = world;
  const { client_id, client_secret } = shop.work.made.application_key;
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    const token = bearer(world);
    await notebook.ask(world.pick(), { path: "/v2/application-keys?page[limit]=10", token });
    await notebook.ask(world.pick(), {
      path: `/v2/authentication-realms/${shop.work.realmId}/oidc-profiles`,
      token,
    });
    const form = { token: shop.work.implicit, client_id, client_secret };
    await notebook.ask(world.pick(), { method: "POST", path: "/oauth/introspect", form });
    await readKey(world, world.pick(), shop.flooded.floor.id, shop.flooded.admin, false);
    await sleep(12 * PAUSE_MS);
  }
};

const draw = ({ notebook }: World, target: Target, { id, token }: Key & { token: string }) =>
  notebook.ask(target, { path: "/v2/customer-authentication-settings", token, key: id });

/** Uses three quarters of its floor, whatever the answers are. */
const floorKeeper: Client = async (world) => {
  const everyMs = 1000 / (FLOOR * 0.75);
  const asked = new Set<Promise<unknown>>();
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    const asking = draw(world, world.pick(), world.shop.flooded.floor).finally(() => asked.delete(asking));
    asked.add(asking);
    await sleep(everyMs);
  }
  await Promise.all(asked);
};

/** Uses as much as it can get of the same store, without a reservation. */
const flooder: Client = async (world) => {
  for (let round = 0; !world.isOver() && round < ROUNDS; round++) {
    await draw(world, world.pick(), world.shop.flooded.flooder);
    await sleep(PAUSE_MS / 2);
  }
};

export const everybody: readonly Client[] = [
  shopper,
  shopper,
  keyWriter,
  keyWriter,
  backOffice,
  reserver,
  reserver,
  revoker,
  passwordShopper,
  reader,
  floorKeeper,
  flooder,
  flooder,
];
