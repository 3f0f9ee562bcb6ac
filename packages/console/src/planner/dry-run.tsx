import type { ApplicationKeyDryRun } from "@latchkey/sdk/admin";
import { Empty } from "../parts/lists/empty.tsx";
import { counted } from "../parts/text/counts.ts";
import { inShort } from "./foresight.ts";

/**
 * For each key: its requests in the last hour, and how many of them are refused before and after the change.
 */
export function DryRun({ foresight }: { foresight: ApplicationKeyDryRun }) {
  const { keys, shared_rate_limit: pool, observed } = foresight;
  const most = Math.max(1, ...keys.map(({ asked }) => asked));
  const minutes = Math.round(observed.seconds / 60);
  if (keys.length === 0)
    return (
      <Empty title="No requests in the last hour">
        The planner replays the requests of the last hour, and no key sent one.
      </Empty>
    );
  return (
    <div className="stack">
      <p>{inShort(foresight)}</p>
      <p className="quiet small">
        From the {minutes > 1 ? `last ${minutes} minutes` : "last minute"}. The rate that all keys share{" "}
        {pool.before === pool.after
          ? `stays at ${pool.after} a second.`
          : `changes from ${pool.before} to ${pool.after} a second.`}{" "}
        For each key, the upper bar shows what happened and the lower bar what would have happened. Refused
        requests are coloured.
      </p>
      <ul>
        {keys.map(({ id, name, asked, refused, reserved_rate_limit: floor }) => (
          <li key={id} className="meter-row">
            <span>
              <strong>{name}</strong>
              <br />
              <span className="quiet small number">
                {floor.before === floor.after
                  ? `${floor.after} reserved`
                  : `${floor.before} → ${floor.after} reserved`}
              </span>
            </span>
            <svg viewBox={`0 0 ${most} 20`} preserveAspectRatio="none" aria-hidden="true">
              <rect className="chart-rest" x={0} y={1} width={asked} height={8} />
              <rect className="chart-bad" x={0} y={1} width={refused.before} height={8} />
              <rect className="chart-rest" x={0} y={11} width={asked} height={8} />
              <rect className="chart-bad" x={0} y={11} width={refused.after} height={8} />
            </svg>
            <span className="quiet small number">
              {counted(asked, "request")}
              <br />
              {refused.before.toLocaleString("en")} → {refused.after.toLocaleString("en")} refused
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
