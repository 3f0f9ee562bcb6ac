import type * as contract from "../contract/members.ts";
import type { Input, Output } from "../contract/operation.ts";
import { pageOf } from "../contract/paging.ts";
import { toIso, toIsoOrNull } from "../lib/clock.ts";
import type { Page } from "../lib/condition.ts";
import { type Given, given } from "../lib/given.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { getMember, type Member, memberOf } from "./member.ts";

/** The members of the body that a request can write. */
export type MemberChange = Omit<Input<typeof contract.updateMember>["body"]["data"], "type">;
export type NewMember = Omit<Input<typeof contract.createMember>["body"]["data"], "type">;

type Deps = { storage: Storage; publicUrl: string };

const URL_PATH = "/v2/members";

export const toColumns = ({ name, email, role }: MemberChange): Given<Tables["members"]> =>
  given({ name, email: email?.shown, email_key: email?.key, role });

export const memberResource = (member: Member): Output<typeof contract.getMember>["data"] => ({
  id: member.id,
  type: "member",
  name: member.name,
  email: member.email,
  role: member.role,
  meta: {
    status: member.status,
    last_signed_in_at: toIsoOrNull(member.last_signed_in_at),
    timestamps: { created_at: toIso(member.created_at), updated_at: toIso(member.updated_at) },
  },
});

export const memberAnswer = (
  { publicUrl }: { publicUrl: string },
  member: Member,
): Output<typeof contract.getMember> => ({
  data: memberResource(member),
  links: { self: `${publicUrl}${URL_PATH}/${member.id}` },
});

export const showMember = async (deps: Deps, storeId: string, memberId: string) =>
  memberAnswer(deps, await getMember(deps, storeId, memberId));

export async function listMembers(
  { storage, publicUrl }: Deps,
  storeId: string,
  page: Page,
): Promise<Output<typeof contract.listMembers>> {
  const { rows, place } = await readPage(storage, "members", { store_id: storeId }, page);
  const data = rows.map((row) => memberResource(memberOf(row)));
  return pageOf(`${publicUrl}${URL_PATH}`, data, { page, place });
}
