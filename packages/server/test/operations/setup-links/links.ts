import type { Operation } from "../../../src/contract/operation.ts";
import { createSetupLink, setupPage } from "../../../src/contract/setup-links.ts";
import type { TestApp } from "../../support/app.ts";
import { type Answer, type Call, call } from "../../support/call.ts";

/** Set-up links, and visits to their pages. */

type Place = { realm: string; id: string };
type Store = { call(operation: Operation, request?: Call): Promise<Answer> };

export const makeLink = async (store: Store, ids: Place, days = 7) => {
  const json = { data: { type: "setup-link", expires_in_days: days } };
  const { body } = await store.call(createSetupLink, { ids: { ...ids }, json });
  const { id, url, expires_at } = body.data as { id: string; url: string; expires_at: string };
  return { id, url, expires_at, token: url.split("/").at(-1) ?? "" };
};

export const visit = ({ app }: Pick<TestApp, "app">, token: string, request: Call = {}) =>
  call(app, setupPage, { ids: { token }, ...request });

/** The page as its reader sees it, each value and text between single spaces. */
export const textOf = ({ body }: Answer): string =>
  body
    .replaceAll(/<(style|title)>.*?<\/\1>/gs, "")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ");
