/** W3C Trace Context 3.2: the caller's own span, as a header names it. */
export type Parent = { traceId: string; spanId: string; isSampled: boolean };

const VERSION_0 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
/** A later version may have more fields behind these (3.2.4); ff is not a version. */
const LATER = /^(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[\x21-\x7e]{0,200})?$/;

export function readTraceparent(header: string | undefined): Parent | undefined {
  const [, traceId = "", spanId = "", flags = ""] =
    VERSION_0.exec(header ?? "") ?? LATER.exec(header ?? "") ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
