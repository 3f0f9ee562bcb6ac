import type { KnownProvider } from "./known-providers.ts";
import type { IdpAnswer, SignOnCheck } from "./sign-on-reasons.ts";

/** The parts of a browser's request to one of its legs. No other operation reads cookies. */
export type BrowserRequest = {
  search: string;
  /** True for a POST, which forms send. */
  isForm: boolean;
  cookie: string | undefined;
  source: string;
  userAgent: string | undefined;
  requestId: string;
  /** Called as soon as the shopper's shop is known, so that a following page shows that shop. */
  cameFrom(shop: Shop, uiLocales?: string): void;
};

/** A shop as the pages show it; null where there is nothing to show. All values are safe to show. */
export type Shop = {
  name: string | null;
  homeUrl: string | null;
  logoUrl: string | null;
  accentColor: string | null;
  /** True for members, who came from the console. */
  isForMembers: boolean;
};

/**
 * The answer of a browser leg: a redirect, a page to choose from, a question, the last page of a test, the page of a
 * set-up link, or the end of a visit. A refusal before the redirect URI is trusted is a Problem, shown as a page.
 */
export type BrowserAnswer = (
  | { location: string }
  | { choice: Choice }
  | { question: SignOutQuestion }
  | { report: TestReport }
  | { setup: SetupGuide }
  | { page: "signed_out" | "sign_ins_ended" }
) & {
  setCookies?: string[];
  /** For the log, if the sign-on failed. */
  failure?: { reference: string; reason: string; cause?: unknown };
};

/** The page to choose a provider: a form with the request, and a button for each provider. */
export type Choice = {
  /** The URL of the request without a provider. */
  action: string;
  options: { profileId: string; name: string; isDown: boolean }[];
  /** Origins by plain http that the journey may pass, besides https. */
  httpOrigins: string[];
};

/** The page that asks whether to sign out: a form whose button carries the confirmation. */
export type SignOutQuestion = { action: string; confirmation: string; httpOrigins: string[] };

/** The result of a test sign-on, for the administrator who started it. */
export type TestReport = {
  profileName: string;
  reference: string;
  /** Why the test failed; null when it passed. */
  failure: { reason: string; means: string; remedy: string } | null;
  /** The provider's answer, if the test failed there. */
  answer: IdpAnswer | null;
  /** The provider's claims about the person; null when the sign-on ended before them. */
  person: { email: string; isEmailVerified: boolean; name: string | null; subject: string } | null;
  requirements: Pick<SetupGuide["checks"][number], "id" | "status">[];
  checks: readonly SignOnCheck[];
  timings: Readonly<Record<string, number>>;
};

/**
 * The page of a set-up link: what the administrator of an identity provider registers there, and what is known of the
 * provider.
 */
export type SetupGuide = {
  storeName: string;
  /** Null where the realm has no name that means anything to its reader. */
  realmName: string | null;
  profileName: string;
  expiresAt: number;
  clientId: string;
  discoveryUrl: string;
  redirectUris: string[];
  backchannelLogoutUri: string;
  /** Null where shoppers who sign out are not sent to the provider. */
  signedOutUri: string | null;
  /** Null: it is none of the known ones, or was never read. */
  provider: Pick<KnownProvider, "name" | "console"> | null;
  /** `detail` is in English. It quotes the provider's documents at most, and never a sign-on. */
  checks: {
    id: "R1" | "R2" | "R3" | "R4" | "R5" | "R6" | "R7" | "R8" | "R9";
    status: "met" | "not_met" | "unknown";
    detail: string | null;
  }[];
  checkedAt: number | null;
  /** `nextAt` is null where the provider can be checked now. */
  checkForm: { action: string; nextAt: number | null };
};
