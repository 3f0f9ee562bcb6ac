import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { readExposition } from "../../test/support/exposition.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { createObserver } from "../http/observe.ts";
import { createMetricsText } from "./metrics-text.ts";

const LAG = "nodejs_eventloop_lag_p99_seconds";

/** What a worker answers whose event loop is late by so much. */
async function figuresOf(lagSeconds: number): Promise<unknown> {
  const { registry } = createObserver({ log: silentLog });
  const figures = await registry.getMetricsAsJSON();
  return figures.map((figure) =>
    figure.name === LAG ? { ...figure, values: [{ value: lagSeconds, labels: {} }] } : figure,
  );
}

test("a worker with a blocked event loop shows, however idle the others are", async () => {
  const answers = await Promise.all([0.01, 0.9, 0.01, 0.01].map(figuresOf));
  const gathered = { answers, missing: [], workers: answers.length, lost: 0, startedAt: 1 };
  const workers = { answer() {}, ask: async () => gathered };
  const { registry } = createObserver({ log: silentLog });
  const text = await createMetricsText({ clock: handClock(), registry, workers })();
  const shown = readExposition(text).series.filter(({ name }) => name === LAG);
  expect(shown.map(({ value }) => value)).toEqual([0.9]);
});
