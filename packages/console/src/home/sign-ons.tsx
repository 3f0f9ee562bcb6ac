import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "wouter";
import { BarChart, type ChartBar, type ChartPart } from "../parts/charts/bar-chart.tsx";
import { ChartTable } from "../parts/charts/chart-table.tsx";
import { type Reader, timeTicks } from "../parts/charts/scale.ts";
import { utcMidnight, whenInWords } from "../parts/charts/when.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { SkeletonBlock } from "../parts/lists/skeleton.tsx";
import { counted } from "../parts/text/counts.ts";
import type { Figures } from "./figures.ts";
import { type SignOnsAt, signOnsPath } from "./links.ts";
import type { Now, Period } from "./period.ts";
import { PeriodChoice } from "./period-choice.tsx";
import { barsOf, changeInWords, comparedOf, sumOf, totalOf } from "./series.ts";
import type { Change } from "./use-address.ts";

/** One provider or key alone. `provider`: the id that lists of sign-ons take. */
export type Only = { id: string; name: string; provider: string | undefined };

type Props = {
  query: UseQueryResult<Figures>;
  period: Period;
  now: Now;
  only: Only | undefined;
  isTable: boolean;
  change: Change;
};

/** Shoppers' sign-ons over time, beside the time before. */
export function SignOns(props: Props) {
  const { query, period, now, change } = props;
  return (
    <section className="card" aria-labelledby="sign-ons">
      <div className="card-head">
        <h2 id="sign-ons">Sign-ons</h2>
        <PeriodChoice period={period} now={now} change={change} />
      </div>
      <Asked query={query} skeleton={<SkeletonBlock />}>
        {(figures) => <Shown {...props} figures={figures} />}
      </Asked>
    </section>
  );
}

const PARTS: readonly (ChartPart & { outcome: SignOnsAt["outcome"] })[] = [
  { key: "good", label: "signed in", outcome: "signed_in" },
  { key: "middling", label: "not finished", outcome: "not_finished" },
  { key: "bad", label: "failed", outcome: "failed" },
];

function Shown({ figures, period, now, only, isTable, change }: Props & { figures: Figures }) {
  const reader: Reader = { zone: now.zone };
  const series = barsOf(figures, only?.id);
  const counts = sumOf(series);
  const total = totalOf(counts);
  const before = series.reduce((sum, bar) => sum + (bar.before ?? 0), 0);
  if (total === 0 && before === 0) return <NoSignOns period={period} only={only} change={change} />;
  const { from, to, step } = figures;
  const values = [counts.signedIn, counts.unfinished, counts.failed];
  const provider = only?.provider;
  const bars = series.map((bar): ChartBar => {
    const at = { from: bar.from, to: bar.to, provider };
    return {
      from: bar.from,
      to: bar.to,
      when: whenInWords(bar.from, bar.to, step, reader),
      values: [bar.signedIn, bar.unfinished, bar.failed],
      before: bar.before,
      isUnderWay: bar.isUnderWay,
      href: signOnsPath(at),
      partHrefs: PARTS.map(({ outcome }) => signOnsPath({ ...at, outcome })),
    };
  });
  const chart = { parts: PARTS, bars, beforeName: period.beforeName };
  const words = `${values.map((value, at) => `${value.toLocaleString("en")} ${PARTS[at]?.label}`).join(", ")}`;
  const caption = `Sign-ons of shoppers in ${period.name}${only ? `, ${only.name}` : ""}`;
  const opens = only && !provider ? "Opens the sign-ons of all keys" : undefined;
  return (
    <figure className="stack">
      <div>
        <p className="row">
          <span className="figure-large">{total.toLocaleString("en")}</span>
          <span className="quiet">
            {total === 1 ? "sign-on" : "sign-ons"} of shoppers in {period.name}
          </span>
        </p>
        <Compared figures={figures} only={only} period={period} before={before} />
        {only && (
          <p className="small">
            {only.name} alone.{" "}
            <button
              type="button"
              className="button-word"
              onClick={() => change({ provider: undefined, key: undefined })}
            >
              Show all
            </button>
          </p>
        )}
      </div>
      {isTable ? (
        <ChartTable caption={caption} opens={opens} {...chart} />
      ) : (
        <BarChart
          name="Sign-ons by time"
          summary={`${caption}: ${words}`}
          ticks={timeTicks(from, to, step, reader)}
          opens={opens}
          {...chart}
        />
      )}
      <ul className="legend">
        {PARTS.map(({ key, label, outcome }, at) => (
          <li key={key}>
            <span className={`key-dot dot-${key}`} />
            <Link href={signOnsPath({ from, to, provider, outcome })}>
              {(values[at] ?? 0).toLocaleString("en")} {label}
            </Link>
          </li>
        ))}
        {figures.hasBefore && (
          <li className="quiet">
            <span className="key-dot dot-before" />
            {before.toLocaleString("en")} in {period.beforeName}
          </li>
        )}
      </ul>
      <div className="chart-foot">
        <figcaption>
          {opens && "A record of a sign-on does not have its key, so a bar opens the sign-ons of all keys. "}
          <Zone figures={figures} reader={reader} />
        </figcaption>
        <button
          type="button"
          className="button-word"
          onClick={() => change({ view: isTable ? undefined : "table" })}
        >
          {isTable ? "Show as chart" : "Show as table"}
        </button>
      </div>
    </figure>
  );
}

type ComparedProps = Pick<Props, "period" | "only"> & { figures: Figures; before: number };

function Compared({ figures, only, period, before }: ComparedProps) {
  const compared = comparedOf(figures, only?.id);
  if (!compared)
    return figures.hasBefore ? null : (
      <p className="quiet small">No figures are kept of {period.beforeName}, so there is no comparison.</p>
    );
  const isPartial = figures.doneTo < figures.to;
  return (
    <p className="quiet small">
      {changeInWords(compared, period.beforeName)}
      {before > 0 && `, which had ${before.toLocaleString("en")}`}.
      {isPartial && ` The ${figures.step} under way is not compared.`}
    </p>
  );
}

/** UTC days begin at another time of the reader's clock. */
function Zone({ figures: { step, from, keptFrom }, reader }: { figures: Figures; reader: Reader }) {
  const at = step === "day" ? utcMidnight(from, reader) : undefined;
  const place = reader.zone.replaceAll("_", " ");
  return (
    <>
      {step !== "day" && `Times are those of ${place}.`}
      {step === "day" &&
        (at ? `A day is a day in UTC: it begins at ${at} in ${place}.` : "Days are days in UTC.")}
      {from < keptFrom &&
        ` Figures by ${step} are kept from ${whenInWords(keptFrom, keptFrom, "day", reader)} on.`}
    </>
  );
}

function NoSignOns({ period, only, change }: Pick<Props, "period" | "only" | "change">) {
  return (
    <Empty
      title={`No sign-ons in ${period.name}`}
      action={
        only ? (
          <button
            type="button"
            className="button button-plain button-small"
            onClick={() => change({ provider: undefined, key: undefined })}
          >
            Show all
          </button>
        ) : (
          <Link href="/providers">Look at the providers</Link>
        )
      }
    >
      {only
        ? `${counted(0, "sign-on")} of ${only.name} in this time and in ${period.beforeName}.`
        : "As soon as shoppers sign in, this chart shows how many signed in, did not finish or failed. Members and test sign-ons are not counted."}
    </Empty>
  );
}
