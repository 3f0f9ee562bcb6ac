import { z } from "zod";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { bodyOf, reading, resource } from "./resource.ts";
import { id, integer, timestamp, url } from "./shapes.ts";

/** Set-up links: a page for the administrator of an identity provider, who has no account here. */

const ids = { realm: "realm_not_found", id: "profile_not_found" } as const;
const path = "/v2/authentication-realms/{realm}/oidc-profiles/{id}/setup-links";
const area = { tag: "Identity providers", access: "setup_links" } as const;
const setupLinks = resource({ ...area, path, ids });

const members = {
  id,
  type: z.literal("setup-link"),
  profile_id: id,
  expires_at: timestamp,
  meta: z.strictObject({ timestamps: z.strictObject({ created_at: timestamp }) }),
};

export const listSetupLinks = operation({
  id: "listSetupLinks",
  ...reading(area),
  path,
  summary: "List the set-up links of an identity provider",
  description:
    "The links that work now, oldest first, at most five. The address of a link is not shown again.",
  ids,
  success: {
    status: 200,
    description: "The links; none where none works",
    schema: z.strictObject({ data: z.array(z.strictObject(members).meta({ id: "SetupLink" })) }),
  },
});

export const createSetupLink = operation({
  id: "createSetupLink",
  ...setupLinks.create,
  summary: "Make a set-up link for the provider's administrator",
  description:
    "The link leads to a page that needs no account. It shows what to register at the identity provider, and which of the nine requirements are met. It has no secret and nothing of shoppers. A profile has at most five links at a time.",
  ids,
  body: bodyOf({
    type: z.literal("setup-link"),
    expires_in_days: integer(1, limits.setupLinkDays).meta({ examples: [7] }),
  }),
  success: {
    status: 201,
    description: "The link, with its address, which is shown this once",
    schema: z.strictObject({
      data: z.strictObject({ ...members, url: url.describe("Everyone who has it can open the page") }),
    }),
  },
  problems: ["setup_links_full"],
});

export const deleteSetupLink = operation({
  id: "deleteSetupLink",
  ...setupLinks.delete,
  path: `${path}/{link}`,
  summary: "End a set-up link",
  description: "Its page is gone at once.",
  ids: { ...ids, link: "setup_link_not_found" },
  success: { status: 204, description: "The link no longer works" },
});

const page = {
  tag: "Identity providers",
  access: "browser",
  credential: { prefix: "lksl", problem: "setup_link_not_found" },
} as const;

export const setupPage = operation({
  id: "setupPage",
  ...page,
  method: "GET",
  path: "/setup/{token}",
  summary: "What to register at an identity provider, for its administrator",
  description:
    "The address that `POST …/setup-links` gave. `ui_locales` chooses the language before `Accept-Language`. Unknown, ended and expired links have one and the same answer.",
  success: {
    status: 200,
    description: "The page",
    page: "What to register, and which requirements are met as far as is known; nothing is asked of the provider",
  },
});

export const checkSetup = operation({
  id: "checkSetup",
  ...page,
  method: "POST",
  path: "/setup/{token}/checks",
  summary: "Check the identity provider again, from the page of a set-up link",
  description: "At most once in five minutes for each link; otherwise nothing is checked.",
  legForm: true,
  success: { status: 303, description: "Back to the page" },
});
