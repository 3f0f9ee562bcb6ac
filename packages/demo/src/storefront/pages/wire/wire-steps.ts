import type { Exchange } from "@latchkey/sdk";
import type { StepContent } from "./wire-log.ts";
import { cut, parameterValues, shortUrl } from "./wire-values.ts";

/** Explains each step in a sentence. */

type Meaning = Pick<StepContent, "title" | "why">;

const MEANINGS: Record<NonNullable<Exchange["step"]>, Meaning> = {
  access_token: {
    title: "The page gets an access token",
    why: "An implicit token is valid for an hour and for public data only. Everyone who knows the client id can get one.",
  },
  settings: {
    title: "The page reads the store's settings",
    why: "The settings name the realm and the client id of this store's sign-ons.",
  },
  providers: {
    title: "The page reads the identity providers",
    why: "Each profile of the realm becomes a button, which is grey if the provider is down.",
  },
  discovery: {
    title: "The page reads the realm's discovery document",
    why: "The realm is an OpenID provider, so any OIDC library could do what this page does.",
  },
  customer_token: {
    title: "E-mail and password become a customer token",
    why: "The answer is the same as after a redirect.",
  },
  register: {
    title: "A customer is created",
    why: "The implicit token may create customers, but not read or change them. The service stores a hash of the password.",
  },
  customer: {
    title: "The page reads the customer",
    why: "The customer token in X-Customer-Token gives access to the customer's own record only.",
  },
  sessions: {
    title: "The page reads the customer's sessions",
    why: "Each session is a customer token that works now. The answer does not contain the tokens.",
  },
  sign_out: {
    title: "A session ends",
    why: "The service revokes the token, so a copy of it does not work either.",
  },
};

const CODE_REDEEMED: Meaning = {
  title: "The code becomes a customer token",
  why: "The request has the verifier that only this browser knows, and an Idempotency-Key, so that it can be repeated if the answer is lost.",
};

const UNNAMED: Meaning = { title: "A call to Latchkey", why: "The SDK made this request." };

/** `page`: the same request redeems a code on /signed-in, and a password on other pages. */
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

/** The step in which the browser leaves the shop. */
export function departureStep(url: string, isDirect: boolean): StepContent {
  return {
    leg: 1,
    title: isDirect ? "The shopper is sent straight to the provider" : "The shopper is sent to Latchkey",
    why: isDirect
      ? "The profile's flow is direct: the shopper goes to the provider itself, and Latchkey redeems the provider's code afterwards."
      : "The request asks for a code. Only this browser knows its state and the verifier of its challenge.",
    line: `GET ${shortUrl(url, "whole")}`,
    status: "redirect",
    values: parameterValues(new URL(url).searchParams),
  };
}

/**
 * The steps when the browser is back. Storefronts cannot see leg 2, so the panel shows only that it took
 * place, and only for a sign-on that began here.
 */
export function returnSteps(url: string, begun: { isDirect: boolean } | undefined): StepContent[] {
  const { searchParams } = new URL(url);
  const error = searchParams.get("error");
  const back: StepContent = {
    leg: 1,
    title: error === null ? "The shopper comes back with a code" : "The shopper comes back without a code",
    why:
      error === null
        ? "The SDK compares state and iss with its stored values before it sends the code."
        : "The error is one of a few known codes. The sign-on record with this reference has the details.",
    line: `GET ${shortUrl(url, "path")}`,
    status: "redirect",
    values: parameterValues(searchParams),
    ...findBy(searchParams.get("reference")),
  };
  return begun && !begun.isDirect ? [secondLeg(error), back] : [back];
}

/** Anyone can write a URL, so only text in the form of a reference counts. */
const findBy = (reference: string | null) =>
  reference !== null && /^[\w-]{1,32}$/.test(reference) ? { find: reference } : {};

/** The last step of a successful sign-on. */
export const recordedStep = (customerId: string): StepContent => ({
  leg: null,
  title: "Latchkey has recorded the sign-on",
  why: "The record of a sign-on has each check with its expected and found values, and the duration of each step. Members of the store read it in the console.",
  line: "sign-on record",
  values: [],
  find: customerId,
});

/** Errors before the redirect to the provider. */
const BEFORE_LEG_2 = new Set(["invalid_request", "invalid_scope", "unsupported_response_type"]);

function secondLeg(error: string | null): StepContent {
  const leg = { leg: 2 as const, line: "Latchkey → provider → Latchkey", status: "not seen here" };
  if (error === null)
    return {
      ...leg,
      title: "Meanwhile, Latchkey signs the shopper in at the provider",
      why: "Latchkey uses its own state, nonce and verifier, redeems the provider's code and checks the ID token. This page cannot see that.",
      values: [],
    };
  if (error === "callback_replay")
    return {
      ...leg,
      title: "The browser sent the provider's answer to Latchkey twice",
      why: "The cause is Back, reload or a copied URL. Latchkey accepts an answer once.",
      values: [],
    };
  if (BEFORE_LEG_2.has(error))
    return {
      ...leg,
      title: "Latchkey did not contact the provider",
      why: "The shop's request was not valid.",
      values: [],
    };
  return {
    ...leg,
    title: "Meanwhile, the sign-on at the provider failed",
    why: "The provider refused, did not answer, or gave an answer that failed a check.",
    values: [
      { name: "error", value: cut(error, 40), why: "the error that Latchkey sends to the storefront" },
    ],
  };
}
