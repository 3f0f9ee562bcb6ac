import { z } from "zod";
import type { Operation } from "./operation.ts";
import type { Permission } from "./permissions.ts";
import type { ProblemCode } from "./problems.ts";
import { id, links, pageOf, pageQuery } from "./shapes.ts";

type Area = { tag: Operation["tag"]; access: Permission[0] };

/** A GET for every role of the back office. */
export const reading = ({ tag, access }: Area) =>
  ({ tag, method: "GET", access: [access, "read"], role: "viewer" }) as const;

/** A change by an administrator. */
export const changing = ({ tag, access }: Area) =>
  ({ tag, access: [access, "write"], role: "administrator" }) as const;

/**
 * The common members of a resource's operations: path, ids, permission and role. Each operation spreads its part, and
 * then writes the members that differ.
 */
export function resource<const Ids extends Record<string, ProblemCode>>({
  path,
  ids,
  ...area
}: Area & { path: string; ids: Ids }) {
  const read = reading(area);
  const change = changing(area);
  const one = { path: `${path}/{id}`, ids };
  return {
    list: { ...read, path, query: pageQuery },
    create: { ...change, method: "POST", path },
    get: { ...read, ...one },
    update: { ...change, method: "PUT", ...one },
    delete: { ...change, method: "DELETE", ...one },
    /** GET of what belongs to one resource, at a path below its own. */
    part: (below: string) => ({ ...read, path: `${one.path}/${below}`, ids }),
    /** POST at a path below that of one resource. */
    action: (below: string) => ({ ...change, method: "POST" as const, path: `${one.path}/${below}`, ids }),
  } as const;
}

/** One page of resources, each with a link to itself. */
export const listOf = <const S extends z.ZodRawShape>(members: S) =>
  pageOf(z.strictObject({ ...members, links }));

/** An answer with one resource. */
export const answerOf = <S extends z.ZodType>(data: S) => z.strictObject({ data, links });

/** A request's body: its members are in `data`. */
export const bodyOf = <const S extends z.ZodRawShape>(members: S) => ({
  schema: z.object({ data: z.object(members) }),
});

/** The answer of an erasure of a person. */
export const erasureOf = <const T extends string>(type: T) =>
  z.strictObject({
    data: z.strictObject({
      type: z.literal(type),
      id,
      events: z.int().describe("How many events this request has erased"),
      complete: z
        .boolean()
        .describe(
          "False: more events are left. The service erases them in the background, one batch per second",
        ),
    }),
  });
