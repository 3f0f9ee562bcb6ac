import type { z } from "zod";
import type * as keys from "../../server/src/contract/application-keys.ts";
import type * as tokens from "../../server/src/contract/customer-tokens.ts";
import type * as customers from "../../server/src/contract/customers.ts";
import type * as deliveries from "../../server/src/contract/deliveries.ts";
import type * as events from "../../server/src/contract/events.ts";
import type * as integrations from "../../server/src/contract/integrations.ts";
import type * as members from "../../server/src/contract/members.ts";
import type * as profiles from "../../server/src/contract/oidc-profiles.ts";
import type { Operation, Output } from "../../server/src/contract/operation.ts";
import type * as contractProblems from "../../server/src/contract/problems.ts";
import type * as realms from "../../server/src/contract/realms.ts";
import type * as setupLinks from "../../server/src/contract/setup-links.ts";
import type { problemBody } from "../../server/src/contract/shapes.ts";
import type { SignOnError } from "../../server/src/contract/sign-on-reasons.ts";
import type * as signOns from "../../server/src/contract/sign-ons.ts";
import type * as store from "../../server/src/contract/store.ts";
import type { EventType } from "../../server/src/events/event.ts";
import type { Admin } from "../src/admin/index.ts";
import type * as sdk from "../src/index.ts";
import type * as webhooks from "../src/webhooks/index.ts";

/**
 * `tsc` checks these types. Each function of the SDK takes and gives the type of its operation in the
 * contract, and src/contract.ts, which is generated from JSON schemas, equals the types that zod infers.
 */

/** `never` equals nothing, because a misspelt lookup gives `never`. */
type Equal<A, B> = [A] extends [never] ? false : Same<Flat<A>, Flat<B>>;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Writes intersections out at every depth, so that two spellings of the same type are equal. */
type Flat<T> = T extends (infer Item)[]
  ? Flat<Item>[]
  : T extends object
    ? { [Name in keyof T]: Flat<T[Name]> }
    : T;
type Within<A, B> = [A] extends [B] ? true : false;
type Holds<T extends true> = T;

type Item<O extends Operation> = Output<O> extends { data: (infer T)[] } ? T : never;
type Sent<O extends Operation> = O["body"] extends { schema: infer S extends z.ZodType }
  ? z.input<S> extends { data: infer T }
    ? Omit<T, "type">
    : never
  : never;
// biome-ignore lint/suspicious/noExplicitAny: any function will do
type Given<F extends (...args: any) => Promise<unknown>> = Awaited<ReturnType<F>>;
type Listed<F> = F extends (...args: never) => Promise<{ data: (infer T)[] }> ? T : never;

type Query<O extends Operation> = O["query"] extends infer S extends z.ZodObject ? z.input<S> : never;
type Created<R extends { create: (item: never) => unknown }> = Parameters<R["create"]>[0];
type Changed<R extends { update: (id: string, change: never) => unknown }> = Parameters<R["update"]>[1];

type AdminProfiles = ReturnType<Admin["profiles"]>;
type AdminSetupLinks = ReturnType<AdminProfiles["setupLinks"]>;
type AdminTokens = ReturnType<Admin["customerTokens"]>;

export type ErrorCodes = [
  Holds<Equal<sdk.ProblemCode, contractProblems.ProblemCode>>,
  Holds<Within<SignOnError, sdk.SignOnErrorCode>>,
  Holds<Equal<sdk.ErrorCode, sdk.ProblemCode | sdk.SignOnErrorCode | sdk.SdkErrorCode>>,
  Holds<Within<sdk.Fault, z.input<typeof problemBody>["errors"][number]>>,
];

export type StorefrontTypes = [
  Holds<Equal<sdk.Customer, Output<typeof customers.getCustomer>["data"]>>,
  Holds<Equal<sdk.Session, Item<typeof tokens.listCustomerTokens>>>,
  Holds<Equal<sdk.CustomerChange, Omit<Sent<typeof customers.updateCustomer>, "email_verified">>>,
  Holds<Within<sdk.NewCustomer, Sent<typeof customers.createCustomer>>>,
  Holds<Equal<sdk.Provider["flow"], Item<typeof profiles.listProfiles>["flow"]>>,
  Holds<Equal<sdk.Provider["health"], Item<typeof profiles.listProfiles>["meta"]["health"]["status"]>>,
];

export type AdminInputs = [
  Holds<Equal<Created<Admin["applicationKeys"]>, Sent<typeof keys.createApplicationKey>>>,
  Holds<Equal<Changed<Admin["applicationKeys"]>, Sent<typeof keys.updateApplicationKey>>>,
  Holds<Equal<Parameters<Admin["applicationKeys"]["dryRun"]>[1], Sent<typeof keys.dryRunApplicationKey>>>,
  Holds<Equal<Parameters<Admin["settings"]["update"]>[0], Sent<typeof realms.updateAuthenticationSettings>>>,
  Holds<Equal<Created<Admin["realms"]>, Sent<typeof realms.createRealm>>>,
  Holds<Equal<Changed<Admin["realms"]>, Sent<typeof realms.updateRealm>>>,
  Holds<Equal<Created<AdminProfiles>, Sent<typeof profiles.createProfile>>>,
  Holds<Equal<Changed<AdminProfiles>, Sent<typeof profiles.updateProfile>>>,
  Holds<Equal<Parameters<AdminProfiles["checkBeforeSaving"]>[0], Sent<typeof profiles.checkBeforeSaving>>>,
  Holds<Equal<Created<AdminSetupLinks>, Sent<typeof setupLinks.createSetupLink>>>,
  Holds<Within<{ digest: Parameters<AdminProfiles["approveDrift"]>[1] }, Sent<typeof profiles.approveDrift>>>,
  Holds<
    Equal<
      NonNullable<Parameters<AdminProfiles["approveDrift"]>[2]>,
      Omit<Sent<typeof profiles.approveDrift>, "digest">
    >
  >,
  Holds<Equal<Created<Admin["customers"]>, Sent<typeof customers.createCustomer>>>,
  Holds<Equal<Changed<Admin["customers"]>, Sent<typeof customers.updateCustomer>>>,
  Holds<Equal<Created<Admin["members"]>, Sent<typeof members.createMember>>>,
  Holds<Equal<Changed<Admin["members"]>, Sent<typeof members.updateMember>>>,
  Holds<Equal<Parameters<Admin["store"]["update"]>[0], Sent<typeof store.updateStore>>>,
  // The schema lets `url` be absent, so that another type of integration is refused for its type.
  Holds<Within<Created<Admin["integrations"]>, Sent<typeof integrations.createIntegration>>>,
  Holds<Equal<Changed<Admin["integrations"]>, Sent<typeof integrations.updateIntegration>>>,
  Holds<Equal<Parameters<Admin["integrations"]["replay"]>[1], Sent<typeof deliveries.replayEvents>>>,
  Holds<
    Equal<
      NonNullable<Parameters<Admin["signOns"]["statistics"]>[0]>,
      Query<typeof signOns.getSignOnStatistics>
    >
  >,
];

type Statistics = Output<typeof signOns.getSignOnStatistics>;
declare const statistics: Admin["signOns"]["statistics"];

export type AdminAnswers = [
  Holds<Equal<Listed<Admin["applicationKeys"]["list"]>, Item<typeof keys.listApplicationKeys>>>,
  Holds<Equal<Given<Admin["applicationKeys"]["create"]>, Output<typeof keys.createApplicationKey>>>,
  Holds<Equal<Given<Admin["applicationKeys"]["get"]>, Output<typeof keys.getApplicationKey>>>,
  Holds<Equal<Given<Admin["applicationKeys"]["update"]>, Output<typeof keys.updateApplicationKey>>>,
  Holds<Equal<Given<Admin["applicationKeys"]["rotate"]>, Output<typeof keys.rotateApplicationKey>>>,
  Holds<Equal<Given<Admin["applicationKeys"]["dryRun"]>, Output<typeof keys.dryRunApplicationKey>>>,
  Holds<Equal<Given<Admin["settings"]["get"]>, Output<typeof realms.getAuthenticationSettings>>>,
  Holds<Equal<Given<Admin["settings"]["update"]>, Output<typeof realms.updateAuthenticationSettings>>>,
  Holds<Equal<Listed<Admin["realms"]["list"]>, Item<typeof realms.listRealms>>>,
  Holds<Equal<Given<Admin["realms"]["create"]>, Output<typeof realms.createRealm>>>,
  Holds<Equal<Given<Admin["realms"]["get"]>, Output<typeof realms.getRealm>>>,
  Holds<Equal<Given<Admin["realms"]["update"]>, Output<typeof realms.updateRealm>>>,
  Holds<Equal<Listed<AdminProfiles["list"]>, Item<typeof profiles.listProfiles>>>,
  Holds<Equal<Given<AdminProfiles["create"]>, Output<typeof profiles.createProfile>>>,
  Holds<Equal<Given<AdminProfiles["get"]>, Output<typeof profiles.getProfile>>>,
  Holds<Equal<Given<AdminProfiles["update"]>, Output<typeof profiles.updateProfile>>>,
  Holds<Equal<Given<AdminProfiles["check"]>, Output<typeof profiles.checkProfile>>>,
  Holds<Equal<Given<AdminProfiles["testSignOn"]>, Output<typeof profiles.testSignOn>>>,
  Holds<Equal<Given<AdminProfiles["approveDrift"]>, Output<typeof profiles.approveDrift>>>,
  Holds<Equal<Given<AdminProfiles["checkBeforeSaving"]>, Output<typeof profiles.checkBeforeSaving>>>,
  Holds<Equal<Given<AdminSetupLinks["list"]>, Output<typeof setupLinks.listSetupLinks>>>,
  Holds<Equal<Given<AdminSetupLinks["create"]>, Output<typeof setupLinks.createSetupLink>>>,
  Holds<Equal<Listed<Admin["customers"]["list"]>, Item<typeof customers.listCustomers>>>,
  Holds<Equal<Given<Admin["customers"]["create"]>, Output<typeof customers.createCustomer>>>,
  Holds<Equal<Given<Admin["customers"]["get"]>, Output<typeof customers.getCustomer>>>,
  Holds<Equal<Given<Admin["customers"]["update"]>, Output<typeof customers.updateCustomer>>>,
  Holds<Equal<Listed<AdminTokens["list"]>, Item<typeof tokens.listCustomerTokens>>>,
  Holds<Equal<Listed<Admin["signOns"]["list"]>, Item<typeof signOns.listSignOns>>>,
  Holds<Equal<Given<Admin["signOns"]["get"]>, Output<typeof signOns.getSignOn>>>,
  Holds<Equal<Given<Admin["signOns"]["statistics"]>, Output<typeof signOns.getSignOnStatistics>>>,
  Holds<Equal<Given<typeof statistics<"profile">>, Extract<Statistics, { data: { profile_id: unknown }[] }>>>,
  Holds<Equal<Given<typeof statistics<"key">>, Extract<Statistics, { data: { key_id: unknown }[] }>>>,
  Holds<Equal<Given<Admin["customers"]["erase"]>, Output<typeof customers.eraseCustomer>>>,
  Holds<Equal<Listed<Admin["events"]["list"]>, Item<typeof events.listEvents>>>,
  Holds<Equal<Given<Admin["events"]["head"]>, Output<typeof events.getEventHead>["data"]>>,
  Holds<Equal<Listed<Admin["members"]["list"]>, Item<typeof members.listMembers>>>,
  Holds<Equal<Given<Admin["members"]["create"]>, Output<typeof members.createMember>>>,
  Holds<Equal<Given<Admin["members"]["get"]>, Output<typeof members.getMember>>>,
  Holds<Equal<Given<Admin["members"]["update"]>, Output<typeof members.updateMember>>>,
  Holds<Equal<Given<Admin["members"]["erase"]>, Output<typeof members.eraseMember>>>,
  Holds<Equal<Given<Admin["me"]>, Output<typeof members.getMe>>>,
  Holds<Equal<Listed<Admin["integrations"]["list"]>, Item<typeof integrations.listIntegrations>>>,
  Holds<Equal<Given<Admin["integrations"]["create"]>, Output<typeof integrations.createIntegration>>>,
  Holds<Equal<Given<Admin["integrations"]["get"]>, Output<typeof integrations.getIntegration>>>,
  Holds<Equal<Given<Admin["integrations"]["update"]>, Output<typeof integrations.updateIntegration>>>,
  Holds<Equal<Given<Admin["integrations"]["rotate"]>, Output<typeof integrations.rotateIntegrationSecret>>>,
  Holds<Equal<Listed<Admin["integrations"]["deliveries"]>, Item<typeof deliveries.listDeliveries>>>,
  Holds<Equal<Given<Admin["integrations"]["redeliver"]>, Output<typeof deliveries.redeliver>>>,
  Holds<Equal<Given<Admin["integrations"]["replay"]>, Output<typeof deliveries.replayEvents>>>,
  Holds<Equal<Given<Admin["integrations"]["test"]>, Output<typeof deliveries.testIntegration>>>,
  Holds<Equal<Given<Admin["customers"]["identities"]>, Output<typeof customers.listCustomerIdentities>>>,
  Holds<Equal<webhooks.EventType, EventType>>,
  Holds<Equal<Given<Admin["store"]["get"]>, Output<typeof store.getStore>>>,
  Holds<Equal<Given<Admin["store"]["update"]>, Output<typeof store.updateStore>>>,
  Holds<Equal<Given<Admin["store"]["usage"]>, Output<typeof store.getStoreUsage>>>,
];

/** `Equal` tells these types apart. */
export type Measure = [
  // @ts-expect-error another type
  Holds<Equal<{ a: { b: string } }, { a: { b: number } }>>,
  // @ts-expect-error an additional member
  Holds<Equal<{ a: string; b: string }, { a: string }>>,
  // @ts-expect-error a member that may be absent
  Holds<Equal<{ a?: string }, { a: string }>>,
  // @ts-expect-error a missing code
  Holds<Equal<Exclude<sdk.ProblemCode, "code_expired">, contractProblems.ProblemCode>>,
  // @ts-expect-error `any` does not equal a type
  Holds<Equal<Output<typeof keys.getApplicationKey>, ReturnType<typeof JSON.parse>>>,
];
