import { z } from "zod";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { answerOf, bodyOf, erasureOf, listOf, reading, resource } from "./resource.ts";
import { ROLES } from "./roles.ts";
import { emailAddress, id, links, name, timestamp } from "./shapes.ts";

const role = z.enum(ROLES).describe("In rising order: a role has the rights of all roles before it");

const memberMembers = {
  id,
  type: z.literal("member"),
  name: z.string(),
  email: z.string(),
  role,
  meta: z.strictObject({
    status: z
      .enum(["invited", "active"])
      .describe(
        "`active` since the first sign-on: from then on only the subject of that sign-on counts, not the e-mail",
      ),
    last_signed_in_at: timestamp.nullable().describe("null: never"),
    timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
  }),
};

const member = z.strictObject(memberMembers).meta({ id: "Member" });
const memberAnswer = answerOf(member);
const members = resource({
  tag: "Members",
  access: "members",
  path: "/v2/members",
  ids: { id: "member_not_found" },
});

export const getMe = operation({
  id: "getMe",
  ...reading({ tag: "Members", access: "me" }),
  path: "/v2/me",
  summary: "Get the caller: kind, role, store, name",
  description:
    "The owner of the request's access token: an application key or a member, with the role that decides what it may do now.",
  success: {
    status: 200,
    description: "The owner of the access token, with the current role",
    schema: z.strictObject({
      data: z
        .strictObject({
          id: id.describe("The id of the application key or the member"),
          type: z.literal("caller"),
          kind: z.enum(["application_key", "member"]),
          name: z.string(),
          email: z.string().optional().describe("The member's address; absent for an application key"),
          role,
          store: z.strictObject({ id, name: z.string() }),
        })
        .meta({ id: "Me" }),
      links,
    }),
  },
});

export const findMemberSignIn = operation({
  id: "findMemberSignIn",
  tag: "Members",
  method: "GET",
  path: "/sign-on/members",
  summary: "Find where the members of a store sign in",
  description:
    "For the page that begins a member's sign-in. Without `store` the list is empty, unless exactly one store of this service has a realm for members.",
  access: "public",
  query: z.strictObject({
    store: id.optional().describe("The store's id"),
    redirect_uri: z
      .string()
      .max(limits.redirectUriLength)
      .optional()
      .describe("The redirect URI of that page"),
  }),
  success: {
    status: 200,
    description: "The store with its realm for members",
    onlyJson: true,
    schema: z.strictObject({
      data: z
        .array(
          z.strictObject({
            type: z.literal("member-sign-in"),
            store_id: id,
            realm_id: id,
            issuer: z
              .url()
              .describe(
                "The realm's address under the service's own URL; `/authorize` after it begins a sign-on",
              ),
            redirect_uri_registered: z.boolean().describe("Whether the realm has this redirect URI"),
          }),
        )
        .max(1)
        .describe(
          "Empty: the store does not exist, or has no realm for members; or the request names no store, and several stores have one",
        ),
    }),
  },
});

export const listMembers = operation({
  id: "listMembers",
  ...members.list,
  summary: "List the people of the store",
  description: "Oldest first, each with their role and whether they have signed in yet.",
  role: "administrator",
  success: { status: 200, description: "One page of members, oldest first", schema: listOf(memberMembers) },
});

export const createMember = operation({
  id: "createMember",
  ...members.create,
  summary: "Invite a member",
  description:
    "Latchkey sends no invitation. The member signs in at the console through an identity provider of the store's realm for members. Latchkey " +
    "recognises them by an e-mail that the provider reports as verified. Default of `name`: the address.",
  body: bodyOf({
    type: z.literal("member"),
    name: name.optional().meta({ examples: ["Ada Reed"] }),
    email: emailAddress,
    role: role.meta({ examples: ["support"] }),
  }),
  success: { status: 201, description: "The member", schema: memberAnswer },
  problems: ["member_exists"],
});

export const getMember = operation({
  id: "getMember",
  ...members.get,
  summary: "Get a member",
  description: "With their role, whether they have signed in yet, and when they last did.",
  role: "administrator",
  success: { status: 200, description: "The member", schema: memberAnswer },
});

export const updateMember = operation({
  id: "updateMember",
  ...members.update,
  summary: "Change a member's name, e-mail or role",
  description:
    "Absent members of the body stay unchanged. A changed role takes effect on every instance within a second, for existing tokens too. " +
    "A changed e-mail does not let another person in: after the first sign-on, Latchkey recognises the member by the provider's subject.",
  body: bodyOf({
    type: z.literal("member"),
    name: name.optional(),
    email: emailAddress.optional(),
    role: role.optional(),
  }),
  success: { status: 200, description: "The member as it is now", schema: memberAnswer },
  problems: ["member_exists", "last_administrator"],
});

export const eraseMember = operation({
  id: "eraseMember",
  ...members.action("erase"),
  summary: "Erase a member: remove them, and remove their data from the event log",
  description:
    "For a person who asks for erasure. Removes the member as DELETE does, if they are still there. In every event about them, `data` becomes `(erased)` " +
    "and the salt is deleted; the events of their actions stay, under their id. Also for members who were removed before. It cannot be undone.",
  success: { status: 200, description: "The progress of the erasure", schema: erasureOf("member-erasure") },
  problems: ["last_administrator"],
});

export const deleteMember = operation({
  id: "deleteMember",
  ...members.delete,
  summary: "Remove a member",
  description: "Their access tokens stop working on every instance within a second.",
  success: { status: 204, description: "The member is removed" },
  problems: ["last_administrator"],
});
