import type * as contract from "../contract/members.ts";
import type { Input, Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks } from "../contract/paging.ts";
import { toIso, toIsoOrNull } from "../lib/clock.ts";
import type { MemberChange, NewMember } from "./administer.ts";
import type { Member, MemberList } from "./member.ts";

type Where = { publicUrl: string };

const selfUrl = (publicUrl: string, memberId: string): string => `${publicUrl}/v2/members/${memberId}`;

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

export const presentMember = ({ publicUrl }: Where, member: Member): Output<typeof contract.getMember> => ({
  data: memberResource(member),
  links: { self: selfUrl(publicUrl, member.id) },
});

export const presentMemberList = (
  { publicUrl }: Where,
  { members, place, page }: MemberList,
): Output<typeof contract.listMembers> => ({
  data: members.map((member) => ({
    ...memberResource(member),
    links: { self: selfUrl(publicUrl, member.id) },
  })),
  meta: presentPage(page, place),
  links: presentPageLinks(`${publicUrl}/v2/members`, page, place),
});

export const toNewMember = ({ data }: Input<typeof contract.createMember>["body"]): NewMember => ({
  name: data.name,
  email: data.email,
  role: data.role,
});

export const toMemberChange = ({ data }: Input<typeof contract.updateMember>["body"]): MemberChange => ({
  name: data.name,
  email: data.email,
  role: data.role,
});
