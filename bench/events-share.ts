import { startLatchkey } from "./latchkey.ts";
import { figureOf, measureRound } from "./measure.ts";
import { openPlaces } from "./places.ts";
import { startServer } from "./processes.ts";
import type { Shares } from "./profiled.ts";
import { createProgress } from "./progress.ts";
import { workloads } from "./workloads/all.ts";

/**
 * What events add to a redeem, as parts of the time that the service works: writing them into the outbox, in the redeem's own transaction,
 * and numbering them and looking for integrations, after it. From samples of the stack, which do not mind a machine whose speed changes.
 * `npm run bench:events-share [rounds] [redeems a round]`.
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const COUNT = Number(process.argv[3] ?? 1500);
const WARM_ROUNDS = 2;
const PROFILED = new URL("profiled.ts", import.meta.url).href;

const redeem = workloads.find(({ name }) => name === "redeem");
if (!redeem) throw new Error("there is no redeem among the workloads");
const places = await openPlaces();
const { ready: idp, ...idpProcess } = await startServer<{ origin: string }>("idp.ts");
const { ready: _, ...load } = await startServer("load.ts");
const progress = createProgress(places.engines.length * (WARM_ROUNDS + ROUNDS));
const report: string[] = [];
try {
  for (const engine of places.engines) {
    const runner = await startLatchkey({
      databaseUrl: await places.newDatabase(engine),
      idp: idp.origin,
      env: { NODE_OPTIONS: `--import=${PROFILED}` },
    });
    const seen: Shares[] = [];
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      progress.step(`${engine}: round ${round + 1}`);
      await measureRound({ load, places }, runner, redeem, { count: COUNT }, () =>
        runner.server.send("sample"),
      );
      const shares = runner.server.receive<Shares>("shares");
      runner.server.send("shares");
      const found = await shares;
      if (round >= WARM_ROUNDS) seen.push(found);
    }
    await runner.server.stop();
    const part = (share: (of: Shares) => number) => {
      const { median, low, high } = figureOf(seen.map(share));
      const percent = (value: number) => (value * 100).toFixed(1);
      return `${percent(median)} % (${percent(low)} to ${percent(high)})`;
    };
    report.push(
      `${engine}: of a redeem of somebody new, which has three events, writing them is ${part(({ writing }) => writing)}, ` +
        `numbering them ${part(({ numbering }) => numbering)}`,
    );
  }
  progress.end();
  console.log(report.join("\n"));
} finally {
  await load.stop();
  await idpProcess.stop();
  await places.remove();
}
