import type { PageConfig } from "../../contents.ts";

let loading: Promise<PageConfig> | undefined;

/** Where Latchkey is, and as whom this shop speaks to it. */
export function shopConfig(): Promise<PageConfig> {
  loading ??= fetch("/config.json")
    .then((answer) => answer.json() as Promise<PageConfig>)
    .catch((failure) => {
      // Else whoever presses “Try again” would hear of the same failure for ever.
      loading = undefined;
      throw failure;
    });
  return loading;
}
