/** Texts for a refused shopper, by the service's reason: what happened, and whether a retry helps. */
type Refusal = { title: string; sentence: string; isWorthTrying: boolean };

const UNTRUSTED: Refusal = {
  title: "The answer was not valid",
  sentence:
    "The sign-in service gave an invalid answer. Trying again will hardly help: please choose another way to sign in, or ask us for help.",
  isWorthTrying: false,
};

const UNANSWERED: Refusal = {
  title: "This sign-in does not answer",
  sentence:
    "The sign-in service does not answer at the moment. Try again in a minute, or choose another way to sign in. Trying again often helps.",
  isWorthTrying: true,
};

const NO_ADDRESS: Refusal = {
  title: "We need an e-mail address",
  sentence:
    "Your account at the sign-in service has no e-mail address. Trying again does not help: add an address there, or choose another way to sign in.",
  isWorthTrying: false,
};

/** The first match counts. A reason without a match gets the text of its code. */
export const refusals: readonly [reason: RegExp, refusal: Refusal][] = [
  [/^claims\.email/, NO_ADDRESS],
  [
    /^email_unverified$/,
    {
      title: "Is this address yours?",
      sentence:
        "A customer here has your e-mail address, and the sign-in service has not confirmed that it is yours. Trying again helps once you have confirmed it there, or sign in as you did before.",
      isWorthTrying: true,
    },
  ],
  [
    /^email_taken$/,
    {
      title: "You have been here before",
      sentence:
        "A customer here has your e-mail address already. Trying again does not help: please sign in as you did before.",
      isWorthTrying: false,
    },
  ],
  [
    /^several_matches$/,
    {
      title: "Several accounts match",
      sentence:
        "Several customers here have your e-mail address. Trying again does not help: please ask us for help.",
      isWorthTrying: false,
    },
  ],
  [
    /^provisioning_off$/,
    {
      title: "You have no account yet",
      sentence: "There is no account for you here. Trying again does not help: please ask us for one.",
      isWorthTrying: false,
    },
  ],
  [
    /^profile_(disabled|none)$/,
    {
      title: "This sign-in is switched off",
      sentence:
        "The shop does not use this sign-in service now. Trying again does not help: please choose another way to sign in.",
      isWorthTrying: false,
    },
  ],
  [
    /^idp_error$/,
    {
      title: "You were not signed in",
      sentence:
        "You cancelled, or the sign-in service refused. You can try again, or choose another way to sign in.",
      isWorthTrying: true,
    },
  ],
  [/^(idp_unavailable|token\.unavailable|userinfo\.unavailable)$/, UNANSWERED],
  [
    /^id_token\.(key|signature)$/,
    {
      title: "Please try again",
      sentence: "We could not verify the answer yet. Trying again in a moment often helps.",
      isWorthTrying: true,
    },
  ],
  [/^(id_token|userinfo|response|token)\.(?!auth_time)|^idp_error\./, UNTRUSTED],
];
