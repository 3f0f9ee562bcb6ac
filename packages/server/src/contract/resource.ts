import type { Operation } from "./operation.ts";
import type { Permission } from "./permissions.ts";
import type { ProblemCode } from "./problems.ts";
import { pageQuery } from "./shapes.ts";

type Area = { tag: Operation["tag"]; access: Permission[0] };

/** A GET for every role of the back office. */
export const reading = ({ tag, access }: Area) =>
  ({ tag, method: "GET", access: [access, "read"], role: "viewer" }) as const;

/** A change by an administrator. */
export const changing = ({ tag, access }: Area) =>
  ({ tag, access: [access, "write"], role: "administrator" }) as const;

/**
 * What the operations of one resource have in common: path, ids, permission and role. An operation spreads its part,
 * and then writes the members that differ.
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
