import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "wouter";
import { BarChart } from "../parts/charts/bar-chart.tsx";
import type { ChartBar, ChartPart } from "../parts/charts/bars.ts";
import { ChartTable } from "../parts/charts/chart-table.tsx";
import { type Reader, timeTicks } from "../parts/charts/scale.ts";
import { utcMidnight, whenInWords } from "../parts/charts/when.ts";
import { Asked } from "../parts/lists/asked.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { SkeletonBlock } from "../parts/lists/skeleton.tsx";
import { counted } from "../parts/text/counts.ts";
import type { Figures } from "./figures.ts";
import { type SignOnsAt, signOnsPath } from "./links.ts";
import type { Now, Period, Step } from "./period.ts";
import { PeriodChoice } from "./period-choice.tsx";
import { type Bar, barsOf, changeInWords, comparedOf, sumOf } from "./series.ts";
import type { Change } from "./use-address.ts";

/** The provider or key that the chart shows alone. */
type Only = { by: "provider" | "key"; id: string; name: string };

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
  const { from, to, step } = figures;
  const series = barsOf(figures, only?.id);
  const { signedIn, unfinished, failed } = sumOf(series);
  const values = [signedIn, unfinished, failed];
  const before = series.reduce((sum, bar) => sum + (bar.before ?? 0), 0);
  if (signedIn + unfinished + failed + before === 0)
    return <NoSignOns period={period} only={only} change={change} />;
  const bars = series.map((bar) => chartBar(bar, step, reader, only));
  const chart = { parts: PARTS, bars, beforeName: period.beforeName };
  const words = values.map((value, at) => `${value.toLocaleString("en")} ${PARTS[at]?.label}`).join(", ");
  const caption = `Sign-ons of shoppers${within(period)}${only ? `, ${only.name}` : ""}`;
  const about = { figures, period, only, before, change };
  return (
    <figure className="stack">
      <Total values={values} {...about} />
      {isTable ? (
        <ChartTable caption={caption} {...chart} />
      ) : (
        <BarChart
          name="Sign-ons by time"
          summary={`${caption}: ${words}`}
          ticks={timeTicks(from, to, step, reader)}
          {...chart}
        />
      )}
      <Legend values={values} {...about} />
      <div className="chart-foot">
        <figcaption>
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

function chartBar(bar: Bar, step: Step, reader: Reader, only: Only | undefined): ChartBar {
  const { from, to, before, isUnderWay } = bar;
  const at = { from, to, only };
  return {
    from,
    to,
    before,
    isUnderWay,
    when: whenInWords(from, to, step, reader),
    values: [bar.signedIn, bar.unfinished, bar.failed],
    href: signOnsPath(at),
    partHrefs: PARTS.map(({ outcome }) => signOnsPath({ ...at, outcome })),
  };
}

type About = Pick<Props, "period" | "only" | "change"> & {
  figures: Figures;
  /** The number of sign-ons of each part. */
  values: readonly number[];
  /** All sign-ons of the time before. */
  before: number;
};

function Total({ values, figures, period, only, before, change }: About) {
  const total = values.reduce((a, b) => a + b, 0);
  return (
    <div>
      <p className="row">
        <span className="figure-large">{total.toLocaleString("en")}</span>
        <span className="quiet">
          {total === 1 ? "sign-on" : "sign-ons"} of shoppers{within(period)}
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
  );
}

/** Each count leads to its sign-ons. */
function Legend({ values, figures: { from, to, hasBefore }, period, only, before }: About) {
  return (
    <ul className="legend">
      {PARTS.map(({ key, label, outcome }, at) => (
        <li key={key}>
          <span className={`key-dot dot-${key}`} />
          <Link href={signOnsPath({ from, to, only, outcome })}>
            {(values[at] ?? 0).toLocaleString("en")} {label}
          </Link>
        </li>
      ))}
      {hasBefore && (
        <li className="quiet">
          <span className="key-dot dot-before" />
          {before.toLocaleString("en")} in {period.beforeName}
        </li>
      )}
    </ul>
  );
}

/** " in the last 24 hours", ": Tue, Nov 17 – Thu, Nov 19" */
const within = ({ id, name }: Period): string => (id === "dates" ? `: ${name}` : ` in ${name}`);

function Compared({ figures, only, period, before }: Omit<About, "values" | "change">) {
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
      {isPartial && before > 0 && ` The ${figures.step} under way is not compared.`}
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
      title={`No sign-ons${within(period)}`}
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
