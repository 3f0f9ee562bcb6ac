import type { PageConfig } from "../contents.ts";

let loading: Promise<PageConfig> | undefined;

/** Where Latchkey is, and as whom this shop speaks to it. */
export function shopConfig(): Promise<PageConfig> {
  loading ??= fetch("/config.json").then((answer) => answer.json() as Promise<PageConfig>);
  return loading;
}
