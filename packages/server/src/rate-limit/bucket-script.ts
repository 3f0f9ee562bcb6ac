import { readFileSync } from "node:fs";
import { createScript, type Script } from "../counters/script.ts";

/** Lua that has the functions of bucket.lua before it; read when it is first needed, which is never without Valkey. */
export function bucketScript(file: URL): () => Script {
  let script: Script | undefined;
  return () => {
    script ??= createScript([new URL("bucket.lua", import.meta.url), file].map(textOf).join("\n"));
    return script;
  };
}

const textOf = (file: URL): string => readFileSync(file, "utf8");
