import type { IncomingMessage, ServerResponse } from "node:http";
import { knobTable } from "./knob-table.ts";
import { type DialName, dials, fits, type Knobs, type SwitchName, switchNames } from "./knobs.ts";
import type { Provider } from "./oidc-provider.ts";
import { readForm } from "./own-request.ts";
import { knobsPage } from "./pages/knobs.ts";
import { sendPage } from "./pages/page.ts";
import { problemPage } from "./pages/problem.ts";
import type { People } from "./people.ts";
import { endSession, sessionOf } from "./session.ts";

type Deps = { provider: Provider; people: People; knobs: Knobs; keyId: string; discoveryUrl: string };

export async function showKnobs(
  { provider, people, knobs, keyId, discoveryUrl }: Deps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { accountId } = await sessionOf(provider, request, response);
  const signedIn = accountId === undefined ? undefined : people.find(accountId);
  sendPage(response, 200, knobsPage({ settings: knobs.get(), keyId, discoveryUrl, signedIn }));
}

export async function turnKnob(
  deps: Deps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = await readForm(request);
  const knob = form?.get("knob") ?? "";
  const isDone =
    knob === "signOut"
      ? await signOut(deps, request, response)
      : turn(deps.knobs, knob, form?.get("value") ?? "");
  if (!isDone)
    return sendPage(response, 400, problemPage("There is no such setting", "Go back, and try another."));
  // Leads back to the card of the knob, so that keyboard users continue there.
  const place = Object.hasOwn(knobTable, knob) ? `#${knob}` : "";
  response.writeHead(303, { Location: `/knobs${place}`, "Cache-Control": "no-store" }).end();
}

/** Whether the knob exists and accepts the value. */
function turn(knobs: Knobs, knob: string, value: string): boolean {
  if (knob === "reset") knobs.reset();
  else if (knob === "rotateKeys") knobs.rotateKeys();
  else if (isSwitch(knob) && /^(on|off)$/.test(value)) knobs.set({ [knob]: value === "on" });
  else if (isDial(knob) && /^[+-]?\d+$/.test(value) && fits(knob, Number(value)))
    knobs.set({ [knob]: Number(value) });
  else return false;
  return true;
}

const isSwitch = (knob: string): knob is SwitchName => switchNames.some((name) => name === knob);
const isDial = (knob: string): knob is DialName => Object.hasOwn(dials, knob);

async function signOut(
  { provider }: Deps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<true> {
  await endSession(provider, await sessionOf(provider, request, response));
  return true;
}
