import { type Role, useSession } from "./session.ts";

/** The least role of each act. The console hides other acts, and the service refuses them. */
const NEEDS = {
  revoke_tokens: "support",
  run_checks: "support",
  test_sign_on: "support",
  redeliver: "support",
  administer: "administrator",
} as const satisfies Record<string, Role>;

const WHO = { support: "support and administrators", administrator: "administrators" };

export type Act = keyof typeof NEEDS;

const RANK: Record<Role, number> = { viewer: 0, support: 1, administrator: 2 };

export const may = (role: Role, act: Act): boolean => RANK[role] >= RANK[NEEDS[act]];

/** Explains why an act is not offered, or why the screen has nothing to show. */
export const whyNot = (act: Act, isWhole = false): string => {
  if (isWhole) return `Only ${WHO[NEEDS[act]]} can use this page.`;
  return act === "administer"
    ? `Read-only: only ${WHO.administrator} can change this.`
    : `Only ${WHO[NEEDS[act]]} can do this.`;
};

export function useCan(): (act: Act) => boolean {
  const { role } = useSession();
  return (act) => may(role, act);
}
