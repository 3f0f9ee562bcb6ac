import { expect, test } from "vitest";
import type { Caller } from "../../contract/caller.ts";
import type { Role } from "../../contract/roles.ts";
import { steadyClock } from "../../lib/clock.ts";
import type { Pieces } from "../message.ts";
import { download } from "./download.ts";

const caller = { storeId: "store", role: "administrator" } as Caller;

/** Counts the places that are taken and freed. */
function countingExports() {
  const counts = { taken: 0, ended: 0, givenBack: 0 };
  const exports = {
    async begin() {
      counts.taken++;
      return {
        end: () => void counts.ended++,
        giveBack: async () => void counts.givenBack++,
      };
    },
  };
  return { counts, exports };
}

async function open(pieces: AsyncIterable<string>, roles: readonly (Role | "ended" | "unknown")[] = []) {
  const { counts, exports } = countingExports();
  const left = [...roles];
  const file = {
    name: "list",
    extension: "csv",
    contentType: "text/csv",
    caller,
    role: "support",
    roleNow: async () => left.shift() ?? ("administrator" as const),
  } as const;
  let callerNow = () => caller;
  const { body } = await download({ clock: steadyClock(), exports }, file, async (now) => {
    callerNow = now;
    return pieces;
  });
  return { body: body as Pieces, counts, roleOf: () => callerNow().role };
}

async function* manyEmpty(onPiece: () => void) {
  yield "head";
  for (let at = 0; at < 1000; at++) {
    onPiece();
    yield "";
  }
  yield "end";
}

test("empty pieces are not sent, and other work comes in between", async () => {
  let [inTurn, most, isOver] = [0, 0, false];
  const onTurn = () => {
    inTurn = 0;
    if (!isOver) setImmediate(onTurn);
  };
  setImmediate(onTurn);
  const { body } = await open(
    manyEmpty(() => {
      most = Math.max(most, ++inTurn);
    }),
  );
  const sent: string[] = [];
  for await (const piece of body) sent.push(piece);
  isOver = true;
  expect(sent).toEqual(["head", "end"]);
  expect(most).toBeLessThan(4);
});

test("no more pieces are made after the client has left", async () => {
  let made = 0;
  const { body, counts } = await open(manyEmpty(() => void made++));
  await body.next();
  const under = body.next();
  await body.return?.();
  expect(counts.ended).toBeGreaterThan(0);
  expect(await under).toEqual({ done: true, value: undefined });
  expect(made).toBeLessThan(3);
});

test("a client that leaves before the first piece frees the place", async () => {
  const { body, counts } = await open(manyEmpty(() => {}));
  await body.return?.();
  expect(counts).toMatchObject({ taken: 1, givenBack: 0 });
  expect(counts.ended).toBeGreaterThan(0);
});

test("pieces go on with the role of now, and while the role cannot be read", async () => {
  const { body, roleOf } = await open(
    manyEmpty(() => {}),
    ["support", "unknown"],
  );
  for await (const _ of body);
  expect(roleOf()).toBe("administrator");
  const lowered = await open(
    manyEmpty(() => {}),
    ["support", "ended"],
  );
  await lowered.body.next();
  await expect(lowered.body.next()).rejects.toThrow("token_invalid");
  expect(lowered.roleOf()).toBe("support");
  expect(lowered.counts.ended).toBeGreaterThan(0);
});

test.each(["ended", "viewer"] as const)("a fault ends the pieces: the role is %s", async (role) => {
  const { body, counts } = await open(
    manyEmpty(() => {}),
    [role],
  );
  await body.next();
  await expect(body.next()).rejects.toThrow("token_invalid");
  expect(counts.ended).toBeGreaterThan(0);
});

test("an export that is refused before its first piece is given back", async () => {
  const { counts, exports } = countingExports();
  const file = {
    name: "list",
    extension: "csv",
    contentType: "text/csv",
    caller,
    role: "viewer",
    roleNow: async () => "viewer" as const,
  } as const;
  const refused = download({ clock: steadyClock(), exports }, file, async () => {
    throw new Error("refused");
  });
  await expect(refused).rejects.toThrow("refused");
  expect(counts).toEqual({ taken: 1, ended: 0, givenBack: 1 });
});
