import { setImmediate } from "node:timers/promises";
import type { Caller } from "../../contract/caller.ts";
import type { Exports } from "../../contract/exports.ts";
import type { GateResult } from "../../contract/gate.ts";
import { Problem } from "../../contract/problem.ts";
import { mayActAs, type Role } from "../../contract/roles.ts";
import { type Clock, toIso } from "../../lib/clock.ts";
import { withEnd } from "../../lib/pieces.ts";
import type { HttpAnswer, Pieces } from "../message.ts";

type Deps = { clock: Clock; exports: Exports };

type Download = {
  /** The name of the file without day and extension. */
  name: string;
  extension: "csv" | "json";
  contentType: string;
  caller: Caller;
  /** The lowest role that may have the file. */
  role: Role | undefined;
  roleNow: GateResult["roleNow"];
};

/**
 * An answer that is saved as a file and sent piece by piece. Each piece is made after the client has taken the one
 * before, so a long file needs as much memory as a short one. A fault after the first piece throws, and server.ts
 * closes the connection without the end of the body, so that a client sees that the file is cut off.
 */
export async function download(
  { clock, exports }: Deps,
  file: Download,
  open: (callerNow: () => Caller) => Promise<AsyncIterable<string>>,
): Promise<HttpAnswer> {
  const place = await exports.begin(file.caller.storeId);
  let caller = file.caller;
  let pieces: AsyncIterable<string>;
  try {
    pieces = await open(() => caller);
  } catch (error) {
    await place.giveBack();
    throw error;
  }
  const onRole = (role: Role) => {
    caller = { ...caller, role };
  };
  let isOver = false;
  const end = () => {
    isOver = true;
    place.end();
  };
  const sent = whileAllowed(file, pieces, onRole, () => isOver);
  const day = toIso(clock.now()).slice(0, 10);
  return {
    status: 200,
    headers: {
      "Content-Type": file.contentType,
      "Content-Disposition": `attachment; filename="${file.name}-${day}.${file.extension}"`,
    },
    body: withEnd(sent, end) satisfies Pieces,
  };
}

/**
 * A long file can outlive the rights of its reader: it ends with the access token, and with a role that is too low.
 * Other requests are served between two pieces, also empty ones, which are not sent.
 */
async function* whileAllowed(
  { role: least, roleNow }: Download,
  pieces: AsyncIterable<string>,
  onRole: (role: Role) => void,
  isOver: () => boolean,
): AsyncGenerator<string, void> {
  for await (const piece of pieces) {
    if (piece !== "") yield piece;
    await setImmediate();
    if (isOver()) return;
    const role = await roleNow();
    // While the database does not answer, the next piece fails by itself.
    if (role === "unknown") continue;
    if (role === "ended" || role === null || !mayActAs(role, least)) throw new Problem("token_invalid");
    onRole(role);
  }
}
