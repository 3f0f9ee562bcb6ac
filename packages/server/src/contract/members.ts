import { z } from "zod";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { ROLES } from "./roles.ts";
import { emailAddress, id, links, name, pageOf, pageQuery, timestamp } from "./shapes.ts";

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
        "`active` from the first sign-on on: then only the subject of that sign-on counts, not the e-mail",
      ),
    last_signed_in_at: timestamp.nullable().describe("null: never"),
    timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
  }),
};

const member = z.strictObject(memberMembers).meta({ id: "Member" });
const memberAnswer = z.strictObject({ data: member, links });
const ids = { id: "member_not_found" } as const;

export const getMe = operation({
  id: "getMe",
  tag: "Members",
  method: "GET",
  path: "/v2/me",
  summary: "Who is calling: kind, role, store, name",
  description:
    "Of the access token that the request came with: an application key or a member, and what it may do now.",
  access: ["me", "read"],
  role: "viewer",
  success: {
    status: 200,
    description: "Whom the access token was given to, with the role as it is now",
    schema: z.strictObject({
      data: z
        .strictObject({
          id: id.describe("The application key's or the member's"),
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
  summary: "Where the members of a store sign in",
  description:
    "For the page on which a member begins. Without `store` it answers only if a single store of this service has a realm for members.",
  access: "public",
  query: z.strictObject({
    store: id.optional().describe("The store's id"),
    redirect_uri: z
      .string()
      .max(limits.redirectUriLength)
      .optional()
      .describe("Where the member wants to come back to"),
  }),
  success: {
    status: 200,
    description: "The store with its realm for members",
    schema: z.strictObject({
      data: z
        .array(
          z.strictObject({
            type: z.literal("member-sign-in"),
            store_id: id,
            realm_id: id,
            redirect_uri_registered: z.boolean().describe("Whether the realm has this redirect URI"),
          }),
        )
        .max(1)
        .describe(
          "Empty: there is no such store, or it has no realm for members; or none was named, and several stores have one",
        ),
    }),
  },
});

export const listMembers = operation({
  id: "listMembers",
  tag: "Members",
  method: "GET",
  path: "/v2/members",
  summary: "List the people of the store",
  description: "Oldest first, each with their role and whether they have signed in yet.",
  access: ["members", "read"],
  role: "administrator",
  query: pageQuery,
  success: {
    status: 200,
    description: "One page of members, oldest first",
    schema: pageOf(z.strictObject({ ...memberMembers, links })),
  },
});

export const createMember = operation({
  id: "createMember",
  tag: "Members",
  method: "POST",
  path: "/v2/members",
  summary: "Invite somebody",
  description:
    "Nothing is sent. They sign in at the console through an identity provider of the store's realm for members, and are known by an " +
    "e-mail that this provider itself calls verified. Without `name`, the address stands for it.",
  access: ["members", "write"],
  role: "administrator",
  body: {
    schema: z.object({
      data: z.object({
        type: z.literal("member"),
        name: name.optional().meta({ examples: ["Ada Reed"] }),
        email: emailAddress,
        role: role.meta({ examples: ["support"] }),
      }),
    }),
  },
  success: { status: 201, description: "The member", schema: memberAnswer },
  problems: ["member_exists"],
});

export const getMember = operation({
  id: "getMember",
  tag: "Members",
  method: "GET",
  path: "/v2/members/{id}",
  summary: "Get a member",
  description: "With their role, whether they have signed in yet, and when they last did.",
  access: ["members", "read"],
  role: "administrator",
  ids,
  success: { status: 200, description: "The member", schema: memberAnswer },
});

export const updateMember = operation({
  id: "updateMember",
  tag: "Members",
  method: "PUT",
  path: "/v2/members/{id}",
  summary: "Change a member's name, e-mail or role",
  description:
    "Members of the body that are absent stay as they are. A role is in force on every instance within a second, for tokens of before too. " +
    "Another e-mail does not let another person in: who has signed in once is known by the provider's subject.",
  access: ["members", "write"],
  role: "administrator",
  ids,
  body: {
    schema: z.object({
      data: z.object({
        type: z.literal("member"),
        name: name.optional(),
        email: emailAddress.optional(),
        role: role.optional(),
      }),
    }),
  },
  success: { status: 200, description: "The member as it is now", schema: memberAnswer },
  problems: ["member_exists", "last_administrator"],
});

export const eraseMember = operation({
  id: "eraseMember",
  tag: "Members",
  method: "POST",
  path: "/v2/members/{id}/erase",
  summary: "Erase a member: remove them, and take their data out of the log of events",
  description:
    "For somebody who asks to be forgotten. The member is removed if they are still there, as by DELETE. In every event about them `data` becomes `(erased)` " +
    "and the salt goes; what they did stays, under their id. Also of members who were removed before. It cannot be undone.",
  access: ["members", "write"],
  role: "administrator",
  ids,
  success: {
    status: 200,
    description: "How far it has come",
    schema: z.strictObject({
      data: z.strictObject({
        type: z.literal("member-erasure"),
        id,
        events: z.int().describe("How many events were erased by this request"),
        complete: z
          .boolean()
          .describe("False: there are more, and the service goes on with them by itself, a round a second"),
      }),
    }),
  },
  problems: ["last_administrator"],
});

export const deleteMember = operation({
  id: "deleteMember",
  tag: "Members",
  method: "DELETE",
  path: "/v2/members/{id}",
  summary: "Remove a member",
  description: "Their access tokens stop working on every instance within a second.",
  access: ["members", "write"],
  role: "administrator",
  ids,
  success: { status: 204, description: "The member is gone" },
  problems: ["last_administrator"],
});
