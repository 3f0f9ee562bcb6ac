import { z } from "zod";
import { type EmailAddress, parseEmail } from "../lib/email-address.ts";
import { limits } from "./limits.ts";

/** Shapes that several operations share. */

export const id = z.uuid().describe("UUIDv7");
export const timestamp = z.iso.datetime({ precision: 3 }).describe("ISO 8601, UTC, with milliseconds");
export const url = z.url();

/** What people call things: not blank, at most 255 characters, nothing that breaks a line or a terminal. */
export const name = z
  .string()
  .min(1, { abort: true })
  .max(limits.nameLength)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, { error: "no control characters" })
  .refine((text) => text.trim() !== "", { error: "not blank" });

export const emailAddress = z
  .string()
  .meta({ examples: ["ada@shop.example"] })
  .transform((given, context): EmailAddress => {
    const parsed = parseEmail(given);
    if (parsed) return parsed;
    context.addIssue({ code: "custom", message: "one e-mail address" });
    return z.NEVER;
  });

export const rateLimit = z.int().min(0).max(limits.rateLimit);

export const problemBody = z
  .strictObject({
    errors: z
      .array(
        z.strictObject({
          status: z.string().describe("The HTTP status, as a string"),
          code: z.string().describe("Stable; see docs/errors.md"),
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
          id: z.string().describe("The request id"),
        }),
      )
      .min(1),
  })
  .meta({ id: "Problem" });

/** RFC 6749 5.2, with our own form beside it. */
export const oauthProblemBody = z
  .strictObject({ error: z.string(), error_description: z.string(), errors: problemBody.shape.errors })
  .meta({ id: "OAuthProblem" });

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const pageQuery = z.object({
  "page[limit]": wholeNumber(1, limits.pageSize)
    .default(25)
    .meta({ description: "How many, 1 to 100; 25 if absent" }),
  "page[offset]": wholeNumber(0, limits.pageOffset)
    .default(0)
    .meta({ description: "How many to pass over, 0 to 10000" }),
});

export const pageMeta = {
  page: z.strictObject({
    limit: z.int(),
    offset: z.int(),
    current: z.int().describe("This page's number, from 1"),
    total: z.int().describe("How many pages there are"),
  }),
  results: z.strictObject({ total: z.int() }),
};

export const pageLinks = z.strictObject({
  current: url,
  first: url,
  last: url,
  next: url.nullable(),
  prev: url.nullable(),
});
