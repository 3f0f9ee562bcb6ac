/** The caller's span, from the header `traceparent` (W3C Trace Context, section 3.2). */
export type Parent = { traceId: string; spanId: string; isSampled: boolean };

const VERSION_0 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
/** A later version may append fields (section 3.2.4). Version ff is invalid. */
const LATER = /^(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-[\x21-\x7e]{0,200})?$/;

export function readTraceparent(header: string | undefined): Parent | undefined {
  const [, traceId = "", spanId = "", flags = ""] =
    VERSION_0.exec(header ?? "") ?? LATER.exec(header ?? "") ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
