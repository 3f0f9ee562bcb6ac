import type { ApplicationKeyDryRun } from "@latchkey/sdk/admin";
import { Empty } from "../parts/lists/empty.tsx";
import { inShort } from "./foresight.ts";

/**
 * For each key: its requests in the last hour, and how many of them are refused before and after the change.
 */
export function DryRun({ foresight }: { foresight: ApplicationKeyDryRun }) {
  const { keys, shared_rate_limit: pool, observed } = foresight;
  const most = Math.max(1, ...keys.map(({ asked }) => asked));
  if (keys.length === 0)
    return (
      <Empty title="Nothing was asked for">
        No key sent a request in the last hour, so there is nothing to play again.
      </Empty>
    );
  return (
    <div className="stack">
      <p>{inShort(foresight)}</p>
      <p className="quiet small">
        Seen over {Math.max(1, Math.round(observed.seconds / 60))} min. What all share{" "}
        {pool.before === pool.after
          ? `stays at ${pool.after} a second.`
          : `goes from ${pool.before} to ${pool.after} a second.`}{" "}
        The upper bar of a key is what was, the lower one what would have been; coloured is what was refused.
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
              {asked.toLocaleString("en")} asked
              <br />
              {refused.before.toLocaleString("en")} → {refused.after.toLocaleString("en")} refused
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
