import { readFile } from "node:fs/promises";
import { openapiDocument } from "../../contract/openapi.ts";
import { ownFilesOnly } from "../headers.ts";
import { withTokens } from "../look/look.ts";
import type { ServicePage } from "../serve.ts";
import type { Document } from "./document.ts";
import { renderReference } from "./render.ts";

/** The API reference at /docs, made from the contract at the first request. It loads nothing from elsewhere. */
export const referencePages = (publicUrl: string): readonly ServicePage[] => [
  page("/docs", "text/html", () =>
    renderReference(openapiDocument(publicUrl) as unknown as Document, publicUrl),
  ),
  page("/docs/page.css", "text/css", async () => withTokens(await fileOf("page.css"))),
  page("/docs/page.js", "text/javascript", () => fileOf("page.js")),
];

const fileOf = (name: string): Promise<string> => readFile(new URL(name, import.meta.url), "utf8");

function page(path: string, mediaType: string, read: () => string | Promise<string>): ServicePage {
  let body: string | undefined;
  return {
    path,
    async respond() {
      body ??= await read();
      const headers = {
        "Content-Type": `${mediaType}; charset=utf-8`,
        "Content-Security-Policy": ownFilesOnly("data:"),
      };
      return { status: 200, headers, body };
    },
  };
}
