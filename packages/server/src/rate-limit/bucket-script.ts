import { readFileSync } from "node:fs";
import { createScript, type Script } from "../counters/script.ts";

/**
 * Lua that finds the functions of bucket.lua, and the given constants, before it. It is read when it is first needed, which
 * is never without Valkey.
 */
export function bucketScript(file: URL, constants = ""): () => Script {
  let script: Script | undefined;
  return () => {
    script ??= createScript(`${textOf(new URL("bucket.lua", import.meta.url))}${constants}\n${textOf(file)}`);
    return script;
  };
}

const textOf = (file: URL): string => readFileSync(file, "utf8");
