import { readPublicUrl } from "../config.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { byOperator } from "../events/event.ts";
import { listBrokered } from "../identity-provider/profile.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { parseEmail } from "../lib/email-address.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { createMember, deleteMember } from "../members/administer.ts";
import { listMembers, type Member } from "../members/member.ts";
import { createRealm, findMembersRealm, type Realm } from "../realms/realm.ts";
import type { Storage } from "../storage/storage.ts";
import { isHelp, pick, readName, readOptions, readRole, required } from "./options.ts";
import { ofStore } from "./require-store.ts";
import { formatTable } from "./table.ts";

const USAGE = `latchkey member add --store <store> --email <address> --role <role> [--name <name>] [--json]
latchkey member list --store <store> [--json]
latchkey member remove --store <store> --id <member> [--json]

People of a store, who sign in at the console through an identity provider of the store's realm for members. --role is
viewer (reads), support (also ends sessions and examines providers) or administrator (everything). The first member makes
the realm; LATCHKEY_PUBLIC_URL says where its console is.`;

const actions: Record<string, (args: string[]) => Promise<void>> = { add, list, remove };

export async function member([action, ...args]: string[]): Promise<void> {
  const act = pick(actions, action);
  if (act) return act(args);
  if (action !== undefined && !isHelp(action))
    throw operatorFault(`member cannot ${JSON.stringify(action)}\n\n${USAGE}`);
  console.log(USAGE);
}

async function add(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    store: { type: "string" },
    email: { type: "string" },
    role: { type: "string" },
    name: { type: "string" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const email = parseEmail(required(options.email, "--email"));
  if (!email) throw operatorFault("--email must be one e-mail address");
  const role = readRole(options.role);
  const name = options.name === undefined ? undefined : readName(options.name);
  const publicUrl = readPublicUrl(process.env);
  const made = await ofStore(options.store, async (deps, storeId) => {
    const created = await createMember(deps, byOperator(storeId), { name, email, role });
    const realm = await makeRealm({ ...deps, publicUrl }, storeId);
    return {
      created,
      realm,
      hasProfile: (await listBrokered(deps.storage.db, storeId, realm.id)).length > 0,
    };
  });
  if (options.json) {
    console.log(JSON.stringify({ member: toJson(made.created), realm: { id: made.realm.id } }));
    return;
  }
  console.log(`member  ${made.created.id}  ${made.created.email}, ${role}
realm   ${made.realm.id}  ${made.realm.name}

${made.hasProfile ? signInStep(publicUrl) : profileStep(publicUrl, made.realm)}`);
}

const signInStep = (publicUrl: string): string =>
  `They sign in at ${publicUrl}/console/, as the account that has this e-mail verified.`;

/** Until then nobody can sign in. The callback's address has the profile's id in it, so the profile comes first. */
const profileStep = (
  publicUrl: string,
  realm: Realm,
): string => `Next, tell the realm which identity provider your people sign in with:

  curl ${publicUrl}/v2/authentication-realms/${realm.id}/oidc-profiles \\
    -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
    -d '{"data": {"type": "oidc-profile", "name": "Work account", "discovery_url": "https://…/.well-known/openid-configuration",
         "client_id": "…", "client_secret": "…"}}'

Then register the \`callback-endpoint\` of its answer at the provider. After that they sign in at ${publicUrl}/console/, as the
account whose e-mail the provider calls verified.`;

/** The store's realm for members, made if there is none. Somebody else may be making it at this moment. */
async function makeRealm(
  deps: { storage: Storage; clock: Clock; publicUrl: string },
  storeId: string,
): Promise<Realm> {
  const find = () => findMembersRealm(deps.storage.db, storeId);
  const known = await find();
  if (known) return known;
  try {
    return await createRealm(deps, byOperator(storeId), { name: "Members", purpose: "members" });
  } catch (error) {
    const quicker = error instanceof Problem ? await find() : undefined;
    if (quicker) return quicker;
    throw error;
  }
}

async function list(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, { store: { type: "string" }, json: { type: "boolean" } });
  if (!options) return;
  const members = await ofStore(options.store, listAll);
  if (options.json) {
    console.log(JSON.stringify({ members: members.map(toJson) }));
    return;
  }
  const rows = members.map(({ id, email, name, role, status, lastSignedInAt }) => [
    id,
    email,
    name,
    role,
    status,
    lastSignedInAt === null ? "never" : toIso(lastSignedInAt),
  ]);
  console.log(formatTable(["id", "e-mail", "name", "role", "status", "last signed in"], rows));
}

async function remove(args: string[]): Promise<void> {
  const options = readOptions(USAGE, args, {
    store: { type: "string" },
    id: { type: "string" },
    json: { type: "boolean" },
  });
  if (!options) return;
  const memberId = required(options.id, "--id");
  await ofStore(options.store, (deps, storeId) => deleteMember(deps, byOperator(storeId), memberId));
  console.log(options.json ? JSON.stringify({ deleted: memberId }) : `removed ${memberId}`);
}

type Deps = { storage: Storage; clock: Clock };

async function listAll(deps: Deps, storeId: string): Promise<Member[]> {
  const members: Member[] = [];
  let after: string | undefined;
  do {
    const page = await listMembers(deps, storeId, { limit: limits.pageSize, offset: 0, after });
    members.push(...page.members);
    after = page.place.next?.after;
  } while (after !== undefined);
  return members;
}

const toJson = ({ id, email, name, role, status }: Member) => ({ id, email, name, role, status });
