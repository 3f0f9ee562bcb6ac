import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import { claimAttempt, failAttempt, forgetOldAttempts, issueCode } from "../../src/sign-on/claim-attempt.ts";
import { claimDirectCode, forgetDirectCode, settleDirectCode } from "../../src/sign-on/redeem-direct.ts";
import { createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";

/** The states of an attempt in the database, whoever writes them and in whatever order: terminal ones are never left. */

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

  test("has no code that is worth anything before it is issued one", async () => {
    const clientCode = newCredential("lkac");
    attemptId = newId();
    await claim(clientCode);
    expect((await f.redeem({ code: clientCode, pkce: newPkce() })).status).toBe(400);
    expect(await stateOf()).toBe("returned");
  });

  test("that failed is given no code", async () => {
    await fail();
    await expect(issue()).rejects.toThrow("was ended");
    expect(await stateOf()).toBe("failed");
  });

  test("is given one code, not two", async () => {
    await issue();
    await expect(issue()).rejects.toThrow("was ended");
  });

  test("that has its code does not fail behind it", async () => {
    await issue();
    await fail();
    expect(await stateOf()).toBe("code_issued");
  });

  test("is remembered for an hour after it can no longer be opened, with a code or without", async () => {
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

  test("of another store is neither failed nor given a code", async () => {
    await fail(newId());
    await expect(issueCode(deps(), { ...place(), storeId: newId() }, attemptId, IDENTITY)).rejects.toThrow(
      "was ended",
    );
    expect(await stateOf()).toBe("returned");
  });
});

describe("what a provider said of somebody", () => {
  const identityOf = async () => {
    const query = f.latchkey.storage.db
      .selectFrom("sign_on_attempts")
      .selectAll()
      .where("id", "=", attemptId);
    const row = await query.executeTakeFirst();
    return row && { state: row.state, identity: row.identity };
  };

  test("is kept until its code is over, and then forgotten; the attempt itself later", async () => {
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

describe("failing an attempt", () => {
  const failWith = (error: Error) => {
    const updateTable = () => {
      throw error;
    };
    const storage = { ...f.latchkey.storage, db: { updateTable } as never };
    return failAttempt({ ...deps(), storage }, place(), attemptId);
  };

  test("says nothing of a database that is away: why the sign-on failed is told, and the attempt is claimed anyway", async () => {
    await failWith(Object.assign(new Error("away"), { code: "ECONNREFUSED" }));
  });

  test("does not hide a fault of ours", async () => {
    await expect(failWith(new Error("a slip"))).rejects.toThrow("a slip");
  });
});

describe("a code of the direct flow", () => {
  const profile = () => ({
    store_id: place().storeId,
    realm_id: place().realmId,
    id: f.profileId,
    client_id: "customers",
  });
  const claimCode = async (codeHash = newCredential("lkac")) => {
    const claim = { id: newId(), codeHash, codeChallenge: "c", grant: { clientRedirectUri: SHOP } };
    return { ...claim, isFirst: await claimDirectCode(deps(), profile(), claim) };
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

  test("that failed is not forgotten: it cannot be brought again", async () => {
    const { id, codeHash } = await claimCode();
    await failAttempt(deps(), place(), id);
    await forgetDirectCode(deps(), place(), id);
    expect(await stateOf(id)).toBe("failed");
    expect((await claimCode(codeHash)).isFirst).toBe(false);
  });

  test("that its provider never answered is forgotten, by its own store alone", async () => {
    const { id, codeHash } = await claimCode();
    await forgetDirectCode(deps(), { storeId: newId() }, id);
    expect(await stateOf(id)).toBe("returned");
    await forgetDirectCode(deps(), place(), id);
    expect((await claimCode(codeHash)).isFirst).toBe(true);
  });
});
