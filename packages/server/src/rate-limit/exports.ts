import type { ExportPlace, Exports } from "../contract/exports.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { createHourlyCap } from "./hourly-cap.ts";

type Deps = { clock: Clock; valkey?: Valkey | undefined };

const WHILE_BUSY_SECONDS = 5;

/**
 * An export reads a whole list for one request of the rate limit, so exports have bounds of their own: a few at once on
 * each instance, and a number in an hour over all instances. A store pays for its exports with these places; the shared
 * pool, and so its shoppers, do not.
 */
export function createExports(deps: Deps): Exports & { sweep(): void } {
  const cap = createHourlyCap(deps);
  const underWay = new Map<string, number>();

  function leave(storeId: string): void {
    const count = (underWay.get(storeId) ?? 1) - 1;
    if (count > 0) underWay.set(storeId, count);
    else underWay.delete(storeId);
  }

  async function begin(storeId: string): Promise<ExportPlace> {
    const count = underWay.get(storeId) ?? 0;
    if (count >= limits.exportsAtOnce) throw refusal("at_once", limits.exportsAtOnce, WHILE_BUSY_SECONDS);
    underWay.set(storeId, count + 1);
    let isOver = false;
    const end = () => {
      if (!isOver) leave(storeId);
      isOver = true;
    };
    try {
      const use = await cap.take(storeId, [{ key: "exports", most: limits.exportsPerHour }]);
      if ("retryAfterSeconds" in use) throw refusal("hour", limits.exportsPerHour, use.retryAfterSeconds);
      return {
        end,
        async giveBack() {
          if (!isOver) await use.giveBack();
          end();
        },
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  return { begin, sweep: cap.sweep };
}

const refusal = (bucket: "at_once" | "hour", most: number, retryAfterSeconds: number): Problem =>
  new Problem("exports_exceeded", {
    meta: { bucket, exports: most, retry_after_seconds: retryAfterSeconds },
    retryAfterSeconds,
  });
