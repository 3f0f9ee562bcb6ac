import { RANGES, type Range } from "./ranges.ts";

export function RangeChoice({ range, onChoose }: { range: Range; onChoose: (range: string) => void }) {
  return (
    <select
      className="input input-small"
      aria-label="How far back"
      value={range}
      onChange={(event) => onChoose(event.target.value)}
    >
      {Object.entries(RANGES).map(([value, { label }]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}
