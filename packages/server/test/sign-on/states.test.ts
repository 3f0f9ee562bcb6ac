import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import {
  claimAttempt,
  failAttempt,
  forgetOldAttempts,
  insertAttempt,
  issueCode,
} from "../../src/sign-on/claim-attempt.ts";
import { forgetDirectCode, settleDirectCode } from "../../src/sign-on/redeem-direct.ts";
import { createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";

/** The states of an attempt in the database: no writer leaves a terminal state, in any order of writes. */

let f: Federation;
let attemptId: string;

beforeAll(async () => {
  f = await createFederation();
});
beforeEach(async () => {
  attemptId = newId();
  await claim();
});
afterAll(() => f.close());

const deps = () => ({ storage: f.latchkey.storage, clock: f.latchkey.clock, codeSeconds: 60 });
const place = () => ({ storeId: f.store.store.id, realmId: f.realmId, profileId: f.profileId });
const IDENTITY = {
  issuer: "https://idp.example",
  subject: "subject",
  email: "ada@shop.example",
  emailVerified: true,
  name: null,
  idpSession: null,
};
const claim = (clientCode = newCredential("lkac")) => {
  const attempt = { id: attemptId, clientId: "customers", codeChallenge: "c", clientNonce: null };
  return claimAttempt(deps(), place(), { ...attempt, clientRedirectUri: SHOP, clientCode });
};
const issue = () => issueCode(deps(), place(), attemptId, IDENTITY);
const fail = (storeId = place().storeId) => failAttempt(deps(), { storeId }, attemptId);
const stateOf = async (id = attemptId) => {
  const query = f.latchkey.storage.db.selectFrom("sign_on_attempts").select("state").where("id", "=", id);
  return (await query.executeTakeFirst())?.state;
};

describe("an attempt", () => {
  test("is claimed once", async () => {
    expect(await claim()).toBe(false);
    expect(await stateOf()).toBe("returned");
  });

  test("has a code that is refused until it is issued", async () => {
    const clientCode = newCredential("lkac");
    attemptId = newId();
    await claim(clientCode);
    expect((await f.redeem({ code: clientCode, pkce: newPkce() })).status).toBe(400);
    expect(await stateOf()).toBe("returned");
  });

  test("gets no code after it failed", async () => {
    await fail();
    await expect(issue()).rejects.toThrow("was ended");
    expect(await stateOf()).toBe("failed");
  });

  test("gets one code", async () => {
    await issue();
    await expect(issue()).rejects.toThrow("was ended");
  });

  test("does not fail after its code was issued", async () => {
    await issue();
    await fail();
    expect(await stateOf()).toBe("code_issued");
  });

  test("is forgotten an hour after it expired, with a code or without", async () => {
    const failed = attemptId;
    await fail();
    attemptId = newId();
    await claim();
    await issue();
    const states = async () => {
      await forgetOldAttempts(deps());
      return [await stateOf(failed), await stateOf()];
    };
    f.latchkey.clock.advance(70 * 60_000 - 1);
    expect(await states()).toEqual(["failed", "code_issued"]);
    f.latchkey.clock.advance(1);
    expect(await states()).toEqual([undefined, undefined]);
  });

  test("can neither fail nor get a code through another store", async () => {
    await fail(newId());
    await expect(issueCode(deps(), { ...place(), storeId: newId() }, attemptId, IDENTITY)).rejects.toThrow(
      "was ended",
    );
    expect(await stateOf()).toBe("returned");
  });
});

describe("the identity of an attempt", () => {
  const identityOf = async () => {
    const query = f.latchkey.storage.db
      .selectFrom("sign_on_attempts")
      .selectAll()
      .where("id", "=", attemptId);
    const row = await query.executeTakeFirst();
    return row && { state: row.state, identity: row.identity };
  };

  test("is deleted when its code expires; the attempt itself later", async () => {
    await issue();
    f.latchkey.clock.advance(59_999);
    await forgetOldAttempts(deps());
    expect((await identityOf())?.identity).toContain("ada@shop.example");
    f.latchkey.clock.advance(1);
    await forgetOldAttempts(deps());
    expect(await identityOf()).toEqual({ state: "code_issued", identity: null });
    f.latchkey.clock.advance(2 * 3_600_000);
    await forgetOldAttempts(deps());
    expect(await identityOf()).toBeUndefined();
  });
});

describe("failAttempt", () => {
  const failWith = (error: Error) => {
    const updateTable = () => {
      throw error;
    };
    const storage = { ...f.latchkey.storage, db: { updateTable } as never };
    return failAttempt({ ...deps(), storage }, place(), attemptId);
  };

  test("ignores an outage of the database: the attempt is claimed anyway", async () => {
    await failWith(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));
  });

  test("throws any other error", async () => {
    await expect(failWith(new Error("a slip"))).rejects.toThrow("a slip");
  });
});

describe("a code of the direct flow", () => {
  const claimCode = async (codeHash = newCredential("lkac")) => {
    const { storage, clock } = deps();
    const claim = { id: newId(), clientId: "customers", codeChallenge: "c", clientRedirectUri: SHOP };
    const isFirst = await insertAttempt(storage.db, clock, place(), claim, codeHash);
    return { id: claim.id, codeHash, isFirst };
  };

  test("is claimed by its hash, once", async () => {
    const { codeHash, isFirst } = await claimCode();
    expect(isFirst).toBe(true);
    expect((await claimCode(codeHash)).isFirst).toBe(false);
  });

  test("that was redeemed is not forgotten, and does not fail", async () => {
    const { id } = await claimCode();
    await f.latchkey.storage.db
      .transaction()
      .execute((trx) => settleDirectCode(trx, deps(), place(), id, newId()));
    await forgetDirectCode(deps(), place(), id);
    await failAttempt(deps(), place(), id);
    expect(await stateOf(id)).toBe("exchanged");
  });

  test("that failed is not forgotten, and cannot be claimed again", async () => {
    const { id, codeHash } = await claimCode();
    await failAttempt(deps(), place(), id);
    await forgetDirectCode(deps(), place(), id);
    expect(await stateOf(id)).toBe("failed");
    expect((await claimCode(codeHash)).isFirst).toBe(false);
  });

  test("without an answer of the provider is forgotten, by its own store only", async () => {
    const { id, codeHash } = await claimCode();
    await forgetDirectCode(deps(), { storeId: newId() }, id);
    expect(await stateOf(id)).toBe("returned");
    await forgetDirectCode(deps(), place(), id);
    expect((await claimCode(codeHash)).isFirst).toBe(true);
  });
});
