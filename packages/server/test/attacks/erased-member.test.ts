import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listEvents } from "../../src/contract/events.ts";
import {
  createMember,
  deleteMember,
  eraseMember,
  getMe,
  getMember,
  updateMember,
} from "../../src/contract/members.ts";
import { updateStore } from "../../src/contract/store.ts";
import { verifyLog } from "../../src/events/verify.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { createMembersSide, type MembersSide } from "../support/members.ts";
import { storedText } from "../support/stored-text.ts";

const EMAIL = "grace.hopper@navy.example";
const EARLIER = "grace.murray@vassar.example";
const TRACES = ["hopper", "navy", "murray", "vassar"];

describe.each(engines)("an erased member, on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;
  let side: MembersSide;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url });
    side = await createMembersSide(f);
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  const erase = (id: string) => f.store.call(eraseMember, { ids: { id } });
  const eventsOf = async (query: string) => {
    await f.latchkey.app.tidy();
    return (await f.store.call(listEvents, { query })).body.data;
  };
  const rename = (token: string, name: string) =>
    side.call(token, updateStore, { json: { data: { type: "store", name } } });

  test("leaves no name, e-mail or subject in the database; the member's own actions stay in the log", async () => {
    const token = await side.token(EARLIER, "administrator");
    const { id } = (await side.call(token, getMe)).body.data;
    const json = { data: { type: "member", email: EMAIL, name: "Grace Hopper" } };
    expect((await side.call(token, updateMember, { ids: { id }, json })).status).toBe(200);
    expect((await rename(token, "Renamed by a member")).status).toBe(200);
    await side.signOn({ sub: `subject of ${EARLIER}`, email: EMAIL, email_verified: true });
    await f.latchkey.app.tidy();
    expect((await storedText(database.url, f.latchkey.storage)).toLowerCase()).toContain("hopper");

    const { status, body } = await erase(id);
    expect([status, body.data]).toEqual([
      200,
      { type: "member-erasure", id, events: expect.any(Number), complete: true },
    ]);
    await f.latchkey.app.tidy();
    const text = (await storedText(database.url, f.latchkey.storage)).toLowerCase();
    for (const trace of TRACES) expect(text.includes(trace), trace).toBe(false);
    const [renamed] = await eventsOf("types=store.updated");
    expect(renamed.data).toMatchObject({
      actor: { type: "member", id, name: null },
      changes: { name: { after: "Renamed by a member" } },
    });
    expect((await f.store.call(getMember, { ids: { id } })).code).toBe("member_not_found");
    expect((await side.call(token, getMe)).code).toBe("token_invalid");
  });

  test("has only events of that member erased, before the erasure's own event; the log verifies", async () => {
    const id = await side.invite(EMAIL, "support");
    await erase(id);
    const events = await eventsOf("types=member.*");
    expect(
      events.map(({ type, subject, data }: Record<string, unknown>) => [type, subject, data === "(erased)"]),
    ).toEqual([
      ["member.created", id, true],
      ["member.deleted", id, false],
      ["member.erased", id, false],
    ]);
    expect(await verifyLog({ ...f.latchkey, eventDays: 90 }, f.store.store.id)).toMatchObject({
      isWhole: true,
      erased: 1,
    });
  });

  test("may have been removed before; 404 for an id that was never a member", async () => {
    const id = await side.invite(EMAIL, "support");
    await f.store.call(deleteMember, { ids: { id } });
    await f.latchkey.app.tidy();
    expect((await erase(id)).body.data).toMatchObject({ events: 1 });
    expect((await erase(f.store.store.id)).code).toBe("member_not_found");
    const other = await f.latchkey.createStore();
    const another = await side.invite("another@navy.example", "viewer");
    expect((await other.call(eraseMember, { ids: { id: another } })).code).toBe("member_not_found");
  });

  test("409 for the last administrator, as for a removal", async () => {
    const token = await side.token(EMAIL, "administrator");
    const { id } = (await side.call(token, getMe)).body.data;
    expect((await side.call(token, eraseMember, { ids: { id } })).code).toBe("last_administrator");
    await side.invite("second@navy.example", "administrator");
    expect((await side.call(token, eraseMember, { ids: { id } })).status).toBe(200);
  });

  test("may be invited again as a new member", async () => {
    const id = await side.invite(EMAIL, "support");
    await erase(id);
    const json = { data: { type: "member", email: EMAIL, role: "viewer" } };
    expect((await f.store.call(createMember, { json })).body.data.id).not.toBe(id);
  });
});
