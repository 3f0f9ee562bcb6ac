import { writeFileSync } from "node:fs";
import { generatedFiles } from "./generated.ts";

for (const [path, content] of Object.entries(await generatedFiles())) {
  writeFileSync(new URL(`../${path}`, import.meta.url), content);
  console.log(`wrote ${path}`);
}
