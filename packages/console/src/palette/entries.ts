import type { ApplicationKey, Customer, SignOn } from "@latchkey/sdk/admin";
import { MENU, type MenuScreen } from "../frame/menu.ts";
import { type Provider, pathOf } from "../parts/profiles.ts";
import { may } from "../session/can.ts";
import type { Role } from "../session/session.ts";
import { matching } from "./matches.ts";

/** A place that the search can open. */
export type Entry = { to: string; name: string; detail?: string; outcome?: SignOn["outcome"] };
export type Group = { label: string; entries: readonly Entry[] };

const MOST = 5;

const screensFor = (role: Role): MenuScreen[] =>
  MENU.flatMap(({ screens }) => screens).filter(({ act }) => act === undefined || may(role, act));

/** The screens of a role by name; all of the menu while nothing is typed. */
export function screensNamed(role: Role, typed: string): Entry[] {
  const screens = screensFor(role);
  if (typed === "") return screens.filter(({ isUnlisted }) => !isUnlisted).map(screenEntry);
  const textOf = ({ name, also = "" }: MenuScreen) => `${name} ${also}`;
  return matching(screens, typed, ({ name }) => name, textOf)
    .slice(0, MOST)
    .map(screenEntry);
}

const screenEntry = ({ to, name }: MenuScreen): Entry => ({ to, name });

export const keysNamed = (keys: readonly ApplicationKey[], typed: string): Entry[] =>
  matching(keys, typed, ({ name }) => name)
    .slice(0, MOST)
    .map(keyEntry);

/** By name, by realm, or by id. */
export const providersNamed = (providers: readonly Provider[], typed: string): Entry[] =>
  [
    ...providers.filter(({ id }) => id === typed.toLowerCase()),
    ...matching(
      providers,
      typed,
      ({ name }) => name,
      ({ name, realm }) => `${name} ${realm.name}`,
    ),
  ]
    .slice(0, MOST)
    .map(providerEntry);

export const keyEntry = ({ id, name, role }: ApplicationKey): Entry => ({
  to: `/keys/${id}`,
  name,
  detail: role,
});

const providerEntry = (provider: Provider): Entry => ({
  to: pathOf(provider),
  name: provider.name,
  detail: provider.realm.name,
});

export const customerEntry = ({ id, name, email }: Customer): Entry => ({
  to: `/customers/${id}`,
  name,
  detail: email,
});

export const signOnEntry = ({ id, reference, profile_name, outcome }: SignOn): Entry => ({
  to: `/sign-ons/${id}`,
  name: reference,
  outcome,
  ...(profile_name && { detail: profile_name }),
});

/** "7 results. Screens 2, Customers 5", for screen readers. */
export function countInWords(groups: readonly Group[]): string {
  const total = groups.reduce((sum, { entries }) => sum + entries.length, 0);
  const parts = groups.map(({ label, entries }) => `${label} ${entries.length}`);
  return `${total} ${total === 1 ? "result" : "results"}. ${parts.join(", ")}`;
}
