import type { IncomingMessage, ServerResponse } from "node:http";
import { knobTable } from "./knob-table.ts";
import { type KnobSettings, turned } from "./knobs.ts";
import type { Interaction, Provider, Session } from "./oidc-provider.ts";
import { readForm } from "./own-request.ts";
import { sendPage } from "./pages/page.ts";
import { problemPage } from "./pages/problem.ts";
import { signInPage } from "./pages/sign-in.ts";
import type { People, Person } from "./people.ts";
import { endSession, sessionOf } from "./session.ts";

type Deps = { provider: Provider; people: People; settings: () => KnobSettings };

const CANCELLED = { error: "access_denied", error_description: "The shopper cancelled." };
const REFUSED = { error: "access_denied", error_description: "The knob says no." };

/**
 * Shows the sign-in page and handles its forms. There is no consent page: consent is granted unless the knob
 * refuses it.
 */
export async function interact(
  deps: Deps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { provider, people, settings } = deps;
  const interaction = await findInteraction(provider, request, response);
  if (!interaction)
    return sendPage(
      response,
      400,
      problemPage("This sign-in is over", "Go back to the shop, and start again from there."),
    );
  const finish = (result: object) => provider.interactionFinished(request, response, result);

  if (interaction.prompt.name === "consent")
    return finish(settings().refuseConsent ? REFUSED : { consent: {} });
  if (request.method !== "POST") return sendPage(response, 200, offer(deps, interaction), "anywhere");
  const form = await readForm(request);
  if (form?.get("action") === "cancel") return finish(CANCELLED);
  const person = form && chosen(people, form);
  if (!person)
    return sendPage(response, 400, problemPage("Nobody was chosen", "Go back, and choose somebody."));
  await letGoOfOther(provider, interaction, person, await sessionOf(provider, request, response));
  return finish({ login: { accountId: person.sub }, select_account: {} });
}

/** Undefined if the interaction has expired, is finished, or belongs to another browser. */
const findInteraction = (
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Interaction | undefined> =>
  provider.interactionDetails(request, response).catch((fault: Error) => {
    if (fault.name === "SessionNotFound") return undefined;
    throw fault;
  });

function offer({ people, settings }: Deps, { uid, params, session }: Interaction): string {
  return signInPage({
    path: `/interaction/${uid}`,
    clientId: params.client_id,
    clientHost: new URL(params.redirect_uri).host,
    signedIn: session && people.find(session.accountId),
    turned: turned(settings()).map((name) => knobTable[name].title),
  });
}

function chosen(people: People, form: URLSearchParams): Person | undefined {
  if (form.get("action") !== "typed") return people.find(form.get("person") ?? "");
  const name = (form.get("name") ?? "").trim().slice(0, 100);
  const email = (form.get("email") ?? "").trim().slice(0, 254);
  return people.add({ name, email, emailVerified: form.get("verified") === "yes" });
}

/**
 * Ends the session of another person in this browser, who may have signed in in another tab. The library
 * would do so on a page that a script submits; here no page is needed.
 */
async function letGoOfOther(
  provider: Provider,
  interaction: Interaction,
  person: Person,
  session: Session,
): Promise<void> {
  if (session.accountId === undefined || session.accountId === person.sub) return;
  await endSession(provider, session);
  delete interaction.session?.uid;
  await interaction.save(interaction.exp - Math.floor(Date.now() / 1000));
}
