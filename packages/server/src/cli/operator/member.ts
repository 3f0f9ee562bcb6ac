import { readPublicUrl } from "../../config.ts";
import { consoleUrlOf, NO_CONSOLE } from "../../contract/console.ts";
import { Problem } from "../../contract/problem.ts";
import { byOperator } from "../../events/event.ts";
import { parseEmail } from "../../lib/email-address.ts";
import { usageFault } from "../../lib/operator-fault.ts";
import { createMember, deleteMember } from "../../members/administer.ts";
import { getMember } from "../../members/member.ts";
import { listMembers, showMember } from "../../members/resource.ts";
import { listBrokered } from "../../profiles/profile.ts";
import { createRealm } from "../../realms/administer.ts";
import { findMembersRealm, getRealm, type Realm } from "../../realms/realm.ts";
import { ifGiven, quoted, readName, readRole } from "../options.ts";
import { confirm } from "./confirm.ts";
import { type FromStore, fromStore } from "./require-store.ts";
import { listFromStore, type PageGiven, printAnswer, printOne, rowsOf } from "./show-list.ts";
import type { CommandDeps } from "./with-storage.ts";

type MemberOptions = FromStore & { email: string; role: string; name: string | undefined };

export async function add(given: MemberOptions): Promise<void> {
  const email = parseEmail(given.email);
  if (!email) throw usageFault(`--email must be one e-mail address, not ${quoted(given.email)}`);
  const role = readRole(given.role);
  const name = ifGiven(given.name, readName);
  const publicUrl = readPublicUrl(process.env);
  const { member, realm, hasProfile } = await fromStore(given.store, async (deps, storeId) => {
    // The realm first: an interrupted command can be repeated, and the member is created once.
    const realm = await makeRealm(deps, storeId);
    const { data: member } = await createMember(deps, byOperator(storeId), { name, email, role });
    const profiles = await listBrokered(deps.storage.db, storeId, realm.id);
    return { member, realm, hasProfile: profiles.length > 0 };
  });
  printAnswer(
    given.json,
    { member, realm: { id: realm.id } },
    `member  ${member.id}  ${member.email}, ${role}
realm   ${realm.id}  ${realm.name}

${hasProfile ? signInStep(publicUrl, realm) : profileStep(publicUrl, realm)}`,
  );
}

/** The same address as on the screen Members. The console's own address does not name the store. */
function findSignInAddress(publicUrl: string, { store_id: storeId }: Realm): string | undefined {
  const consoleUrl = consoleUrlOf(publicUrl);
  return consoleUrl && `${consoleUrl}sign-in?store=${storeId}`;
}

function signInStep(publicUrl: string, realm: Realm): string {
  const address = findSignInAddress(publicUrl, realm);
  if (!address) return NO_CONSOLE;
  return `Nothing is sent to them. Send them this address, where they sign in as the account that has this e-mail verified:

  ${address}`;
}

/**
 * Without a profile members cannot sign in. The callback's address contains the profile's id, so the profile comes
 * first.
 */
function profileStep(publicUrl: string, realm: Realm): string {
  const address = findSignInAddress(publicUrl, realm);
  return `Next, tell the realm which identity provider your people sign in with:

  curl ${publicUrl}/v2/authentication-realms/${realm.id}/oidc-profiles \\
    -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
    -d '{"data": {"type": "oidc-profile", "name": "Work account", "discovery_url": "https://…/.well-known/openid-configuration",
         "client_id": "…", "client_secret": "…"}}'

Then register the \`callback-endpoint\` of its answer at the provider. ${
    address
      ? `After that send them this address, where they sign in as the
account whose e-mail the provider calls verified:

  ${address}`
      : NO_CONSOLE
  }`;
}

/** The store's realm for members, created if there is none. Another request may create it at the same moment. */
async function makeRealm(deps: CommandDeps, storeId: string): Promise<Realm> {
  const find = () => findMembersRealm(deps.storage.db, storeId);
  const known = await find();
  if (known) return known;
  try {
    const { data } = await createRealm(deps, byOperator(storeId), { name: "Members", purpose: "members" });
    return await getRealm(deps, storeId, data.id);
  } catch (error) {
    const quicker = error instanceof Problem ? await find() : undefined;
    if (quicker) return quicker;
    throw error;
  }
}

export const list = (given: FromStore & PageGiven): Promise<void> =>
  listFromStore(
    given,
    async (deps, storeId, page) => ({
      ...rowsOf(await listMembers(deps, storeId, page)),
      empty: `this store has no members; \`latchkey member add --store ${storeId} --email <address> --role administrator\` makes one`,
    }),
    {
      name: "members",
      head: ["id", "e-mail", "name", "role", "status", "last signed in"],
      toCells: ({ id, email, name, role, meta }) => [
        id,
        email,
        name,
        role,
        meta.status,
        meta.last_signed_in_at ?? "never",
      ],
    },
  );

export async function show({ argument, store, json }: FromStore & { argument: string }): Promise<void> {
  const { data: member } = await fromStore(store, (deps, storeId) => showMember(deps, storeId, argument));
  const { id, email, name, role, meta } = member;
  printOne(
    json,
    { member },
    {
      id,
      "e-mail": email,
      name,
      role,
      status: meta.status,
      "last signed in": meta.last_signed_in_at ?? "never",
    },
  );
}

export async function remove(given: FromStore & { id: string; yes: boolean }): Promise<void> {
  const { id, yes, json } = given;
  await fromStore(given.store, async (deps, storeId) => {
    const { email } = await getMember(deps, storeId, id);
    await confirm(`This removes the member ${email}, who is signed out within a second.`, yes);
    await deleteMember(deps, byOperator(storeId), id);
  });
  printAnswer(json, { deleted: id }, `removed ${id}`);
}
