/** How a request weighs the two forms of a list (RFC 9110, section 12.5.1). */
type Preference = { wantsCsv: boolean; takesJson: boolean };

const QUALITY = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/;

/**
 * Only a request that names `text/csv` gets CSV, so that `text/*` and the wildcard stay JSON. With the same quality for
 * both, CSV comes before a wildcard and after `application/json`.
 */
export function preferenceOf(accept: string | undefined): Preference {
  if (accept === undefined || !/text\/csv/i.test(accept)) return { wantsCsv: false, takesJson: true };
  const ranges = accept.split(",").flatMap(readRange);
  const csv = qualityOf(ranges, "text/csv") ?? 0;
  const named = qualityOf(ranges, "application/json");
  const json = named ?? qualityOf(ranges, "application/*") ?? qualityOf(ranges, "*/*") ?? 0;
  const isBefore = named === undefined ? csv >= json : csv > json;
  return { wantsCsv: csv > 0 && isBefore, takesJson: json > 0 || csv === 0 };
}

type MediaRange = { range: string; quality: number };

/** A part that is no media range, or has a quality that is none, is left out. */
function readRange(part: string): MediaRange[] {
  const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
  const given = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return /^[^\s/]+\/[^\s/]+$/.test(range) && QUALITY.test(given) ? [{ range, quality: Number(given) }] : [];
}

function qualityOf(ranges: readonly MediaRange[], name: string): number | undefined {
  const found = ranges.filter(({ range }) => range === name);
  return found.length > 0 ? Math.max(...found.map(({ quality }) => quality)) : undefined;
}
