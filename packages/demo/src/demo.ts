import { ApiError } from "@latchkey/sdk";
import { createAdmin } from "@latchkey/sdk/admin";
import { startPracticeIdp } from "./practice-idp/start.ts";
import { startStorefront } from "./storefront/start.ts";

/** A practice identity provider and a demo storefront, both set up at a local Latchkey. */
export type Demo = {
  shopUrl: string;
  idpUrl: string;
  knobsUrl: string;
  /** The shop's page that shows webhooks as they arrive. */
  hooksUrl: string;
  /** The members who can sign in at the console through the practice provider. */
  members: readonly { name: string; email: string; role: string }[];
  close(): Promise<void>;
};

type DemoOptions = {
  /** Latchkey's URL for browsers. */
  apiUrl: string;
  /** Latchkey's URL for this process, if a proxy makes it differ from `apiUrl`. */
  ownUrl?: string;
  clientId: string;
  clientSecret: string;
  ports: { idp: number; shop: number };
};

const PROFILE_NAME = "Practice sign-in";

/** The provider is local and its people are invented, so the secret of its client need not be secret. */
const CLIENT = { clientId: "latchkey", clientSecret: "practice" };

/** The console's client at the provider, which is not the shop's. */
const MEMBERS_CLIENT = { clientId: "latchkey-members", clientSecret: "practice" };

/** Members of the store. The provider knows both, with verified addresses. */
const MEMBERS = [
  { name: "Mona", email: "mona@shop.example", role: "administrator" },
  { name: "Sam", email: "sam@shop.example", role: "support" },
] as const;

/** An existing customer, whose address the shop has verified. */
const DORA = {
  name: "Dora Brook",
  email: "dora@shop.example",
  password: "practice-password",
  email_verified: true,
};

export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { apiUrl, ownUrl = apiUrl, clientId, clientSecret, ports } = options;
  const idp = await startPracticeIdp({ port: ports.idp, quiet: true });
  const knobsUrl = `${idp.origin}/knobs`;
  let shop: Awaited<ReturnType<typeof startStorefront>> | undefined;
  const close = async () => void (await Promise.all([shop?.close(), idp.close()]));
  try {
    shop = await startStorefront({ port: ports.shop, apiUrl, clientId, knobsUrl });
    idp.setShop(shop.origin);
    const admin = createAdmin({ baseUrl: ownUrl, clientId, clientSecret });
    const profile = await seed(admin, shop.origin, idp.discoveryUrl);
    idp.setClient({
      ...CLIENT,
      redirectUris: [profile.links["callback-endpoint"]],
      // The provider calls this URL, not a browser.
      backchannelLogoutUri: profile.links["backchannel-logout-endpoint"].replace(apiUrl, ownUrl),
    });
    shop.setWebhookSecret(await integrate(admin, shop.hooksUrl));
    const membersProfile = await seedMembers(admin, apiUrl, idp.discoveryUrl);
    idp.setClient({ ...MEMBERS_CLIENT, redirectUris: [membersProfile.links["callback-endpoint"]] });
    return {
      members: MEMBERS,
      shopUrl: shop.origin,
      idpUrl: idp.origin,
      knobsUrl,
      hooksUrl: `${shop.origin}/webhooks`,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Admin = ReturnType<typeof createAdmin>;

const FIRST_LOOK = {
  name: "Alder & Pine",
  accent_color: "#8a4b1f",
  duplicate_email_policy: "api_only",
} as const;

/** Creates the resources that the shop needs if they are missing. Keeps changes that were made since. */
async function seed(admin: Admin, shopUrl: string, discoveryUrl: string) {
  const redirectUri = `${shopUrl}/signed-in`;
  const settings = await admin.settings.get();
  const realmId = settings.data.realm_id;
  const realm = await admin.realms.get(realmId);
  const profiles = admin.profiles(realmId);
  const { data: listed } = await profiles.list({ limit: 100 });
  const known = knownOf(listed, discoveryUrl, CLIENT);
  const { redirect_uris, home_url } = realm.data;
  const isNew = !redirect_uris.includes(redirectUri);
  // True for the shop's URL of an earlier start, false for a URL that an administrator has set.
  const isElsewhere = home_url !== `${shopUrl}/` && redirect_uris.includes(`${home_url}signed-in`);
  if (isNew || isElsewhere) {
    const change = {
      redirect_uris: isNew ? [...redirect_uris, redirectUri] : redirect_uris,
      ...(!known && FIRST_LOOK),
    };
    // The shop may have another port than at the last start.
    const shown = { home_url: `${shopUrl}/`, logo_url: `${shopUrl}/icon.svg` };
    await admin.realms.update(realmId, { ...change, ...shown }).catch((error) => {
      // At a public address Latchkey refuses links to localhost. Sign-on works without these links.
      if (!(error instanceof ApiError && error.code === "shown_url_invalid")) throw error;
      return admin.realms.update(realmId, change);
    });
  }
  if (!known) await createDora(admin);
  return join(profiles, known, discoveryUrl, CLIENT);
}

/** Creates the realm for members with the practice provider and, the first time, two members. */
async function seedMembers(admin: Admin, apiUrl: string, discoveryUrl: string) {
  const redirectUri = `${apiUrl}/console/signed-in`;
  const { data: realms } = await admin.realms.list({ limit: 100 });
  const realm =
    realms.find(({ purpose }) => purpose === "members") ??
    (await admin.realms.create({ name: "Members", purpose: "members" })).data;
  // The service may have another port than at the last start.
  if (!realm.redirect_uris.includes(redirectUri))
    await admin.realms.update(realm.id, { redirect_uris: [...realm.redirect_uris, redirectUri] });
  const profiles = admin.profiles(realm.id);
  const { data: listed } = await profiles.list({ limit: 100 });
  const known = knownOf(listed, discoveryUrl, MEMBERS_CLIENT);
  if (!known) {
    const { data: members } = await admin.members.list({ limit: 100 });
    for (const member of MEMBERS)
      if (!members.some(({ email }) => email === member.email)) await admin.members.create(member);
  }
  return join(profiles, known, discoveryUrl, MEMBERS_CLIENT);
}

type Profiles = ReturnType<Admin["profiles"]>;
type Client = { clientId: string; clientSecret: string };
type Listed = { name: string; discovery_url: string; client_id: string };

/**
 * Finds the profile by its name, because the provider's port may have changed, or by its discovery URL,
 * because its name may have.
 */
const knownOf = <Profile extends Listed>(
  listed: readonly Profile[],
  discoveryUrl: string,
  { clientId }: Client,
): Profile | undefined =>
  listed.find(({ name }) => name === PROFILE_NAME) ??
  listed.find((profile) => profile.discovery_url === discoveryUrl && profile.client_id === clientId);

function join(
  profiles: Profiles,
  known: { id: string; name: string; discovery_url: string } | undefined,
  discoveryUrl: string,
  { clientId, clientSecret }: Client,
) {
  const at = { discovery_url: discoveryUrl, client_id: clientId, client_secret: clientSecret };
  if (!known) return profiles.create({ name: PROFILE_NAME, ...at });
  if (known.discovery_url === discoveryUrl) return profiles.get(known.id);
  // The provider may have another port than at the last start, but its people have the same subjects.
  return profiles.update(known.id, { ...at, adopt_identities_of: known.id, confirm: known.name });
}

async function createDora(admin: Admin): Promise<void> {
  const { data } = await admin.customers.list({ filter: `eq(email,${DORA.email})` });
  if (data.length === 0) await admin.customers.create(DORA);
}

const INTEGRATION_NAME = "Practice shop";

/**
 * Creates the shop's webhook and returns its signing secret. The API shows a secret only once, so each start
 * rotates it.
 */
async function integrate(admin: Admin, url: string): Promise<string> {
  const configuration = { url };
  const { data: listed } = await admin.integrations.list({ limit: 100 });
  const known =
    listed.find(({ name }) => name === INTEGRATION_NAME) ??
    listed.find((integration) => integration.configuration.url === url);
  if (!known) {
    const observes = ["customer.*", "customer_token.*", "sign_on.*", "application_key.*", "oidc_profile.*"];
    const made = { name: INTEGRATION_NAME, integration_type: "webhook", observes, configuration };
    return (await admin.integrations.create(made)).data.signing_secret;
  }
  // The shop may have another port than at the last start.
  if (known.configuration.url !== url) await admin.integrations.update(known.id, { configuration });
  return (await admin.integrations.rotate(known.id)).data.signing_secret;
}
