/** Texts for a refused shopper, by the service's reason: what happened, and whether a retry helps. */
type Refusal = { title: string; sentence: string; isWorthTrying: boolean };

const UNTRUSTED: Refusal = {
  title: "We couldn’t verify your sign-in",
  sentence:
    "The sign-in service sent something we couldn’t verify. Trying again won’t help until it’s fixed: please choose another way to sign in, or ask us for help.",
  isWorthTrying: false,
};

const UNANSWERED: Refusal = {
  title: "That sign-in service isn’t responding",
  sentence: "Try again in a minute, or choose another way to sign in.",
  isWorthTrying: true,
};

const NO_ADDRESS: Refusal = {
  title: "We need an e-mail address",
  sentence:
    "Your account at the sign-in service has no e-mail address. Trying again won’t help: add an address there, or choose another way to sign in.",
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
        "A customer here has your e-mail address already. Trying again won’t help: please sign in as you did before.",
      isWorthTrying: false,
    },
  ],
  [
    /^several_matches$/,
    {
      title: "Several accounts match",
      sentence:
        "Several customers here have your e-mail address. Trying again won’t help: please ask us for help.",
      isWorthTrying: false,
    },
  ],
  [
    /^provisioning_off$/,
    {
      title: "You have no account yet",
      sentence: "There is no account for you here. Trying again won’t help: please ask us for one.",
      isWorthTrying: false,
    },
  ],
  [
    /^profile_(disabled|none)$/,
    {
      title: "This sign-in is switched off",
      sentence:
        "The shop does not use this sign-in service now. Trying again won’t help: please choose another way to sign in.",
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
  [/^(idp_unavailable|token\.unavailable|userinfo\.unavailable|id_token\.keys_unread)$/, UNANSWERED],
  [
    /^id_token\.(key|signature)$/,
    {
      title: "Please try again",
      sentence: "We couldn’t verify the sign-in service’s answer yet. Try again in a minute.",
      isWorthTrying: true,
    },
  ],
  [
    /^internal_error$/,
    {
      title: "Something went wrong on our side",
      sentence: "You did nothing wrong. Try again in a minute.",
      isWorthTrying: true,
    },
  ],
  [/^(id_token|userinfo|response|token)\.(?!auth_time)|^idp_error\./, UNTRUSTED],
];
