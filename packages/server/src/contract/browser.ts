import type { IdpAnswer, SignOnCheck } from "./sign-on-reasons.ts";

/** What a browser brings to one of its legs. Cookies and the query count here and nowhere else. */
export type BrowserRequest = {
  search: string;
  /** It came by POST, as forms do. */
  isForm: boolean;
  cookie: string | undefined;
  source: string;
  userAgent: string | undefined;
  requestId: string;
  /** To be called as soon as it is known where the shopper came from: whatever page follows is for that shop's shoppers. */
  cameFrom(shop: Shop, uiLocales?: string): void;
};

/** What our pages show of a shop; null where there is nothing to show. All of it can be shown as it is. */
export type Shop = {
  name: string | null;
  homeUrl: string | null;
  logoUrl: string | null;
  accentColor: string | null;
  /** People of the store, who came from the console. */
  isForMembers: boolean;
};

/** A redirect, a page to choose from, a question, the page that a test ends on, or the end of a visit. A refusal before the redirect URI is trusted is a Problem, shown as a page. */
export type BrowserAnswer = (
  | { location: string }
  | { choice: Choice }
  | { question: SignOutQuestion }
  | { report: TestReport }
  | { page: "signed_out" | "sign_ins_ended" }
) & {
  setCookies?: string[];
  /** For the log, where the sign-on failed. */
  failure?: { reference: string; reason: string; cause?: unknown };
};

/** The page to choose a provider: a form that has the request once, and a button for each provider. */
export type Choice = {
  /** The request without a provider, as a URL of ours. */
  action: string;
  options: { profileId: string; name: string; isDown: boolean }[];
  /** Origins by plain http that the journey may lead over, beside those by https. */
  httpOrigins: string[];
};

/** The page that asks whether to sign out: a form whose button has the confirmation. */
export type SignOutQuestion = { action: string; confirmation: string; httpOrigins: string[] };

/** What a test sign-on has shown, for the administrator who made it. */
export type TestReport = {
  profileName: string;
  reference: string;
  /** Why it failed. Null: it came through. */
  failure: { reason: string; means: string; remedy: string } | null;
  /** What the provider said to it, where it failed there. */
  answer: IdpAnswer | null;
  /** What the provider said of the person. */
  person: { name: string; value: string }[];
  requirements: {
    id: string;
    requirement: string;
    status: "met" | "not_met" | "unknown";
    evidence: string;
  }[];
  checks: readonly SignOnCheck[];
  timings: Readonly<Record<string, number>>;
};
