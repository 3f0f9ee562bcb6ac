import { Link } from "wouter";
import type { ChartProps } from "./bars.ts";

type Props = Pick<ChartProps, "parts" | "bars" | "beforeName"> & { caption: string };

const shown = (count: number | undefined): string => (count === undefined ? "–" : count.toLocaleString("en"));

/** The figures of a chart as a table. */
export function ChartTable({ caption, parts, bars, beforeName }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll only what has the focus
    <section className="figures-scroll" aria-label={caption} tabIndex={0}>
      <table className="figures">
        <caption className="only-read-out">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {parts.map(({ key, label }) => (
              <th key={key} scope="col" className="figure-cell">
                {label.charAt(0).toUpperCase() + label.slice(1)}
              </th>
            ))}
            {beforeName && (
              <th scope="col" className="figure-cell figures-before">
                In {beforeName}, in all
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.from}>
              <th scope="row">
                {bar.href ? <Link href={bar.href}>{bar.when}</Link> : bar.when}
                {bar.isUnderWay && <span className="quiet"> so far</span>}
              </th>
              {bar.values.map((value, at) => (
                <td key={parts[at]?.key} className="figure-cell">
                  {shown(value)}
                </td>
              ))}
              {beforeName && <td className="figure-cell quiet">{shown(bar.before)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
