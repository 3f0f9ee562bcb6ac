import type { Admin, Member } from "@latchkey/sdk/admin";
import type { Figure } from "../parts/forms/figures.tsx";
import { counted, sentence } from "../parts/text/counts.ts";

/** The members who can administer the store without this one. */
export const otherAdministrators = (
  { members }: Pick<Admin, "members">,
  member: Pick<Member, "id">,
): Figure => ({
  about: "other administrators",
  read: async () => {
    const all: Member[] = [];
    for await (const one of members.list({ limit: 100 }).all()) all.push(one);
    return othersInWords(all, member.id);
  },
});

type Counted = Pick<Member, "id" | "role"> & { meta: Pick<Member["meta"], "status"> };

/** An invited member has not signed in yet, so it is not certain that they can. */
export function othersInWords(members: readonly Counted[], id: string): string {
  const others = members.filter(
    (one) => one.id !== id && one.role === "administrator" && one.meta.status === "active",
  ).length;
  return sentence(`${counted(others, "other administrator")} ${others > 1 ? "have" : "has"} signed in.`);
}
