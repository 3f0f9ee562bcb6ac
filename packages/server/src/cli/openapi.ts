import { readOpenConfig } from "../config.ts";
import { openapiDocument } from "../contract/openapi.ts";

export async function printOpenapi(): Promise<void> {
  const { publicUrl } = readOpenConfig(process.env);
  console.log(JSON.stringify(openapiDocument(publicUrl), null, 2));
}
