import { Link } from "wouter";
import { type Provider, stateOf } from "../parts/profiles.ts";
import { counted, sentence } from "../parts/text/counts.ts";
import { duration } from "../parts/text/instants.ts";
import { Pill } from "../parts/text/pill.tsx";
import { ProviderMark } from "../providers/provider-mark.tsx";
import type { Figures, Grouping } from "./figures.ts";
import { type FunnelRow, funnelOf, shareInWords } from "./funnel.ts";
import { type SignOnsAt, signOnsPath } from "./links.ts";

type Props = {
  figures: Figures;
  grouping: Grouping;
  nameOf(id: string | null): string;
  /** Undefined for a key, and for a provider that was removed. */
  providerOf(id: string | null): Provider | undefined;
  /** The address that shows this row's sign-ons alone. */
  addressOf(id: string): string;
};

const NO_ROWS = { profile: "provider", key: "key" } as const;

/** From the redirect to the end, by provider or by key. */
export function FunnelTable({ figures, grouping, nameOf, providerOf, addressOf }: Props) {
  const rows = funnelOf(figures);
  if (rows.length === 0)
    return (
      <p className="quiet">
        {sentence(counted(0, "sign-on"))} in this time, at any {NO_ROWS[grouping]}.
      </p>
    );
  const isByProvider = grouping === "profile";
  const most = Math.max(...rows.map(({ started }) => started));
  const slowest = Math.max(1, ...rows.map(({ latest }) => latest?.p95 ?? 0));
  return (
    <table className="figures figures-cards">
      <caption className="only-read-out">
        Sign-ons by {NO_ROWS[grouping]}: started, returned, and how they ended
      </caption>
      <thead>
        <tr>
          <th scope="col">{isByProvider ? "Provider" : "Key"}</th>
          {["Started", "Returned", "Signed in", "Not finished", "Failed", "Never came back"].map((head) => (
            <th key={head} scope="col" className="figure-cell">
              {head}
            </th>
          ))}
          {isByProvider && <th scope="col">Latest times (p50, p95)</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">
              <RowHead
                name={nameOf(row.id)}
                href={row.id === null ? undefined : addressOf(row.id)}
                provider={providerOf(row.id)}
              />
              {!isRefused(row, isByProvider) && <FunnelBar row={row} most={most} />}
            </th>
            <Cells row={row} of={figures} isByProvider={isByProvider} />
            {isByProvider && (
              <td data-label="Latest times (p50, p95)">
                <Times row={row} slowest={slowest} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type RowHeadProps = { name: string; href: string | undefined; provider: Provider | undefined };

function RowHead({ name, href, provider }: RowHeadProps) {
  const state = provider && stateOf(provider);
  return (
    <span className="row apart">
      <span className="marked">
        {provider && <ProviderMark of={provider} />}
        {href === undefined ? (
          <span className="item-name">{name}</span>
        ) : (
          <Link className="item-name" href={href} replace>
            {name}
          </Link>
        )}
      </span>
      {state && <Pill tone={state.tone}>{state.word}</Pill>}
    </span>
  );
}

type CellsProps = { row: FunnelRow; of: Figures; isByProvider: boolean };

/** Refused before the redirect: these sign-ons have not started at a provider, and cannot return from one. */
const isRefused = ({ id }: FunnelRow, isByProvider: boolean): boolean => isByProvider && id === null;

/** Counts with their share of the started ones. Records have no key, so by key there are no links. */
function Cells({ row, of, isByProvider }: CellsProps) {
  const cells: [label: string, count: number, outcome?: SignOnsAt["outcome"]][] = [
    ["Started", row.started],
    ["Returned", row.returned],
    ["Signed in", row.signedIn, "signed_in"],
    ["Not finished", row.unfinished, "not_finished"],
    ["Failed", row.failed, "failed"],
    ["Never came back", row.neverBack],
  ];
  const isBefore = isRefused(row, isByProvider);
  return cells.map(([label, count, outcome]) => {
    if (isBefore && !outcome)
      return (
        <td key={label} className="figure-cell quiet" data-label={label}>
          –
        </td>
      );
    const words = count.toLocaleString("en");
    const only =
      row.id === null ? undefined : ({ by: isByProvider ? "provider" : "key", id: row.id } as const);
    const href = outcome && only && signOnsPath({ from: of.from, to: of.to, outcome, only });
    return (
      <td key={label} className="figure-cell" data-label={label}>
        {href && count > 0 ? (
          <Link href={href} aria-label={`${words} ${label.toLowerCase()}`}>
            {words}
          </Link>
        ) : (
          words
        )}
        {label !== "Started" && !isBefore && (
          <span className="quiet small"> {shareInWords(count, row.started)}</span>
        )}
      </td>
    );
  });
}

/** The ends of the sign-ons as a bar; the rest of it never came back. */
function FunnelBar({ row, most }: { row: FunnelRow; most: number }) {
  const of = (count: number) => (count / most) * 100;
  const ends = [
    ["good", row.signedIn, 0],
    ["middling", row.unfinished, row.signedIn],
    ["bad", row.failed, row.signedIn + row.unfinished],
    ["rest", row.neverBack, row.returned],
  ] as const;
  return (
    <svg className="funnel-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      {ends.map(([key, count, below]) => (
        <rect key={key} className={`chart-${key}`} x={of(below)} width={of(count)} height={10} />
      ))}
    </svg>
  );
}

function Times({ row: { latest }, slowest }: { row: FunnelRow; slowest: number }) {
  if (!latest) return <span className="quiet">not called</span>;
  return (
    <span className="funnel-times">
      <span className="number">
        {duration(latest.p50)}, {duration(latest.p95)}
      </span>
      <svg className="funnel-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect className="chart-rest" width={(latest.p95 / slowest) * 100} height={10} />
        <rect className="chart-good" width={(latest.p50 / slowest) * 100} height={10} />
      </svg>
    </span>
  );
}
