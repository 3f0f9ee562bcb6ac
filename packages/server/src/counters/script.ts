import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Lua that the server runs as one step: no other command comes in between. */
export type Script = { text: string; sha: string };

/**
 * `body` has the time in `now` (milliseconds), the beginning of the names of its keys in `slot`, and the items from
 * ARGV[3] on, one after the other. It returns one answer for each item, in their order.
 *
 * ARGV[1] is when the caller stops waiting: after that the script does nothing. ARGV[2] replaces the time in tests.
 */
export function createScript(body: string): Script {
  const text = `local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
if now > tonumber(ARGV[1]) then return 0 end
if ARGV[2] ~= '' then now = tonumber(ARGV[2]) end
local slot = KEYS[1]
${body}`;
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** A script of the given constants and Lua files. They are read at first use, so never without Valkey. */
export function scriptFrom(constants: string, ...files: readonly URL[]): () => Script {
  let script: Script | undefined;
  return () => {
    script ??= createScript([constants, ...files.map((file) => readFileSync(file, "utf8"))].join("\n"));
    return script;
  };
}
