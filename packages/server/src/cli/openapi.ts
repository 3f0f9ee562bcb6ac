import { readConfig } from "../config.ts";
import { openapiDocument } from "../contract/openapi.ts";
import { readOptions } from "./options.ts";

const USAGE = "latchkey openapi\n\nPrints the OpenAPI 3.1 document, with LATCHKEY_PUBLIC_URL as its server.";

export async function printOpenapi(args: string[]): Promise<void> {
  if (!readOptions(USAGE, args, {})) return;
  // Only the public URL counts here; a document can be printed where no service could run.
  const { publicUrl } = readConfig({ ...process.env, LATCHKEY_MASTER_KEY: "A".repeat(43) });
  console.log(JSON.stringify(openapiDocument(publicUrl), null, 2));
}
