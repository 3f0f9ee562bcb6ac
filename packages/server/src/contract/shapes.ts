import { z } from "zod";
import { type EmailAddress, parseEmail } from "../lib/email-address.ts";
import { limits } from "./limits.ts";

/** Shapes that several operations share. */

export const id = z.uuid().describe("UUIDv7");
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ description: "ISO 8601, UTC, with milliseconds", examples: ["2026-01-31T09:30:00.000Z"] });
export const url = z.url();
export const textOrNull = z.string().nullable();
/** The link to a resource. */
export const links = z.strictObject({ self: url });

/** A name: not blank, at most 255 characters, without line breaks and control characters. */
export const name = z
  .string()
  .min(1, { abort: true })
  .max(limits.nameLength)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, { error: "no control characters" })
  .refine((text) => text.trim() !== "", { error: "not blank" });

export const emailAddress = z
  .string()
  .meta({ format: "email", examples: ["ada@shop.example"] })
  .transform((given, context): EmailAddress => {
    const parsed = parseEmail(given);
    if (parsed) return parsed;
    context.addIssue({ code: "custom", message: "one e-mail address" });
    return z.NEVER;
  });

/**
 * The bounds before the kind, and only the first fault: zod has bounds of its own for integers, and a large number
 * would fail both.
 */
export const integer = (min: number, max: number) =>
  z.number().min(min, { abort: true }).max(max, { abort: true }).int();

export const rateLimit = integer(0, limits.rateLimit);

export const problemBody = z
  .strictObject({
    errors: z
      .array(
        z.strictObject({
          status: z.string().describe("The HTTP status, as a string"),
          code: z.string().describe("Stable; `links.about` is its page"),
          title: z.string(),
          detail: z.string(),
          source: z
            .union([
              z.strictObject({ pointer: z.string() }),
              z.strictObject({ parameter: z.string() }),
              z.strictObject({ header: z.string() }),
            ])
            .optional(),
          meta: z.record(z.string(), z.unknown()).optional(),
          links: z.strictObject({
            about: z.string().meta({ description: "The page of this error", format: "uri" }),
          }),
          id: z.string().describe("The request id"),
        }),
      )
      .min(1),
  })
  .meta({ id: "Problem" });

/** An OAuth error (RFC 6749, section 5.2), with the service's own members beside it. */
export const oauthProblemBody = z
  .strictObject({
    error: z.string(),
    error_description: z.string(),
    error_uri: z.string().meta({ description: "The page of this error", format: "uri" }),
    errors: problemBody.shape.errors,
  })
  .meta({ id: "OAuthProblem" });

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, { error: `expected a whole number from ${min} to ${max}` })
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const pageQuery = z.object({
  "page[limit]": wholeNumber(1, limits.pageSize)
    .default(25)
    .meta({ description: "Rows of a page, 1 to 100; default: 25" }),
  "page[offset]": wholeNumber(0, limits.pageOffset)
    .default(0)
    .meta({ description: "Rows to skip, 0 to 10000. `links.next` leads further" }),
  "page[after]": z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,4096}$/, { error: "expected a cursor from `links.next`" })
    .optional()
    .meta({
      type: "string",
      description:
        "A cursor from `links.next`, for the same list, filter and sort; overrides an offset. New and deleted rows do not move other rows from page to page",
    }),
});

export const pageMeta = {
  page: z.strictObject({
    limit: z.int(),
    offset: z.int().describe("Rows before this page; after a cursor, the rows of the pages before"),
    current: z.int().describe("This page's number, from 1"),
    total: z.int().describe("Number of pages, as far as was counted"),
  }),
  results: z.strictObject({
    total: z.int().describe("Exact, unless `total_is_at_least` is present"),
    total_is_at_least: z
      .literal(true)
      .optional()
      .describe(
        "There can be more than `total`: counting stops after 10,000 rows, or after reading as many rows without an index. It can be a minute old",
      ),
  }),
};

export const pageLinks = z.strictObject({
  current: url,
  first: url,
  last: url.describe("The last page that an offset reaches, as far as was counted"),
  next: url.nullable().describe("The next page, in a list of any length"),
  prev: url
    .nullable()
    .describe(
      "A page of the same size; near the beginning it shares rows with this one. Null on the first page, and beyond what an offset reaches",
    ),
});

/** One page of a list. */
export const pageOf = <S extends z.ZodType>(item: S) =>
  z.strictObject({ data: z.array(item), meta: z.strictObject(pageMeta), links: pageLinks });
