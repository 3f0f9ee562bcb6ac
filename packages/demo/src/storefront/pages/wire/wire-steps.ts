import type { Exchange } from "@latchkey/sdk";
import type { StepContent } from "./wire-log.ts";
import { cut, parameterValues, shortUrl } from "./wire-values.ts";

/** What each step is, in one sentence, for people who learn. */

type Meaning = Pick<StepContent, "title" | "why">;

const MEANINGS: Record<NonNullable<Exchange["step"]>, Meaning> = {
  access_token: {
    title: "The page gets an access token",
    why: "An implicit token, good for an hour and for public things only: whoever knows the client id can have one.",
  },
  settings: {
    title: "Which realm signs customers in here?",
    why: "The settings name the realm and the client id that this store's sign-ons are made with.",
  },
  providers: {
    title: "Who can vouch for a shopper?",
    why: "Each of the realm's profiles becomes a button; its health decides whether the button is greyed.",
  },
  discovery: {
    title: "Where does the realm begin a sign-on?",
    why: "The realm describes itself as an OpenID provider, so any OIDC library could do what this page does.",
  },
  customer_token: {
    title: "E-mail and password become a customer token",
    why: "The answer is the same as after a redirect: from here on it does not matter how somebody signed in.",
  },
  register: {
    title: "A customer is created",
    why: "The implicit token may create customers and nothing else with them; the password is kept as a hash.",
  },
  customer: {
    title: "Who is this?",
    why: "The customer token in X-Customer-Token shows the customer's own record, and nobody else's.",
  },
  sessions: {
    title: "Where is this customer signed in?",
    why: "Every customer token that works now, without the tokens themselves.",
  },
  sign_out: {
    title: "A session ends",
    why: "The token is revoked at the service, so a copy of it is worth nothing either.",
  },
};

const CODE_REDEEMED: Meaning = {
  title: "The code becomes a customer token",
  why: "Sent with the verifier that only this browser has, and an Idempotency-Key, so that a lost answer can be asked for again.",
};

const UNNAMED: Meaning = { title: "A call to Latchkey", why: "Made by the SDK." };

/** `page`: the same request redeems a code on the way back, and a password in the form. */
export function exchangeStep({ method, url, status, step }: Exchange, page: string): StepContent {
  const isCode = step === "customer_token" && page === "/signed-in";
  return {
    leg: isCode ? 1 : null,
    ...(isCode ? CODE_REDEEMED : step ? MEANINGS[step] : UNNAMED),
    line: `${method} ${shortUrl(url, "path")}`,
    status: status === undefined ? "no answer" : String(status),
    values: [],
  };
}

/** The browser leaves. */
export function departureStep(url: string, isDirect: boolean): StepContent {
  return {
    leg: 1,
    title: isDirect ? "The shopper is sent straight to the provider" : "The shopper is sent to Latchkey",
    why: isDirect
      ? "This provider is used directly: its own address, and its code is redeemed by Latchkey afterwards."
      : "A request for a code, with a state and a challenge that only this browser knows the other half of.",
    line: `GET ${shortUrl(url, "whole")}`,
    status: "redirect",
    values: parameterValues(new URL(url).searchParams),
  };
}

/**
 * The browser is back. What was said on leg 2 is not for storefronts to see: that it took place is all there is to show,
 * and only of a sign-on that began here.
 */
export function returnSteps(url: string, begun: { isDirect: boolean } | undefined): StepContent[] {
  const { searchParams } = new URL(url);
  const error = searchParams.get("error");
  const back: StepContent = {
    leg: 1,
    title: error === null ? "The shopper comes back with a code" : "The shopper comes back without a code",
    why:
      error === null
        ? "The SDK compares state and iss with what it remembers, before the code is shown to anybody."
        : "The error is one of a few known words; what happened in detail is in the record with this reference.",
    line: `GET ${shortUrl(url, "path")}`,
    status: "redirect",
    values: parameterValues(searchParams),
    ...findBy(searchParams.get("reference")),
  };
  return begun && !begun.isDirect ? [secondLeg(error), back] : [back];
}

/** Anybody can write an address: only what could be a reference is taken for one. */
const findBy = (reference: string | null) =>
  reference !== null && /^[\w-]{1,32}$/.test(reference) ? { find: reference } : {};

/** The end of a sign-on that went well. */
export const recordedStep = (customerId: string): StepContent => ({
  leg: null,
  title: "Latchkey has written it down",
  why: "Every sign-on leaves a record: each check with both sides, and how long each step took. People of the store read it in the console.",
  line: "sign-on record",
  values: [],
  find: customerId,
});

/** Refused before anybody was asked. */
const BEFORE_LEG_2 = new Set(["invalid_request", "invalid_scope", "unsupported_response_type"]);

function secondLeg(error: string | null): StepContent {
  const leg = { leg: 2 as const, line: "Latchkey → provider → Latchkey", status: "not seen here" };
  if (error === null)
    return {
      ...leg,
      title: "Meanwhile, Latchkey signs the shopper in at the provider",
      why: "With a state, nonce and verifier of its own; it redeems the provider's code and checks the ID token. This page sees none of it.",
      values: [],
    };
  if (error === "callback_replay")
    return {
      ...leg,
      title: "The provider's answer was shown to Latchkey twice",
      why: "By Back, reload or a copied address. It counts once.",
      values: [],
    };
  if (BEFORE_LEG_2.has(error))
    return {
      ...leg,
      title: "The provider was not asked",
      why: "Latchkey could not follow the request.",
      values: [],
    };
  return {
    ...leg,
    title: "Meanwhile, Latchkey and the provider came to no good end",
    why: "Either the provider said no, or it did not answer, or its answer failed a check.",
    values: [{ name: "error", value: cut(error, 40), why: "what Latchkey tells the storefront of it" }],
  };
}
