import { readFileSync } from "node:fs";
import { createScript, type Script } from "../counters/script.ts";

/**
 * Makes a script whose Lua follows the functions of bucket.lua and the given constants. The file is read at first use,
 * so never without Valkey.
 */
export function bucketScript(file: URL, constants = ""): () => Script {
  let script: Script | undefined;
  return () => {
    script ??= createScript(`${textOf(new URL("bucket.lua", import.meta.url))}${constants}\n${textOf(file)}`);
    return script;
  };
}

const textOf = (file: URL): string => readFileSync(file, "utf8");
