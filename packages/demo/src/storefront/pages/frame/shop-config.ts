import type { PageConfig } from "../../contents.ts";

let loading: Promise<PageConfig> | undefined;

/** Latchkey's URL and the shop's client id. */
export function shopConfig(): Promise<PageConfig> {
  loading ??= fetch("/config.json")
    .then((answer) => answer.json() as Promise<PageConfig>)
    .catch((failure) => {
      // Without this, “Try again” would repeat the same failure without a new request.
      loading = undefined;
      throw failure;
    });
  return loading;
}
