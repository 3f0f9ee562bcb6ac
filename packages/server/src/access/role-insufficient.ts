import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";

/** `needs` is the lowest role that the operation accepts. */
export const roleInsufficient = (role: Role | null, needs: Role | undefined): Problem =>
  new Problem("role_insufficient", {
    detail: `This needs the role ${needs}, and the caller has the role ${role}.`,
    meta: { role, needs },
  });
