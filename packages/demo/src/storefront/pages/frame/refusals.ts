/** What this shop tells a shopper whom the service has refused, by the reason that it gives: what happened, and whether trying again helps. */
type Refusal = { title: string; sentence: string; isWorthTrying: boolean };

const UNTRUSTED: Refusal = {
  title: "We did not trust that answer",
  sentence:
    "What came back from there was not as it must be. Trying again will hardly help before somebody has mended it: please choose another way, or ask us for help.",
  isWorthTrying: false,
};

const UNANSWERED: Refusal = {
  title: "Nobody answers there",
  sentence:
    "That way to sign in does not answer at the moment. Trying again in a minute helps, or choose another.",
  isWorthTrying: true,
};

const NO_ADDRESS: Refusal = {
  title: "We need an e-mail address",
  sentence:
    "Your account there gave us no e-mail address. Trying again does not help: add an address there, or choose another way to sign in.",
  isWorthTrying: false,
};

/** The first that fits. A reason that is in none of them is told by its code alone. */
export const refusals: readonly [reason: RegExp, refusal: Refusal][] = [
  [/^claims\.email/, NO_ADDRESS],
  [
    /^email_unverified$/,
    {
      title: "Is this address yours?",
      sentence:
        "A customer here has your e-mail address, and it was not confirmed there that it is yours. Trying again helps once you have confirmed it, or sign in as you did before.",
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
      title: "Which one are you?",
      sentence:
        "Several customers here have your e-mail address. Trying again does not help: please ask us for help.",
      isWorthTrying: false,
    },
  ],
  [
    /^provisioning_off$/,
    {
      title: "We do not know you yet",
      sentence: "There is no account for you here. Trying again does not help: please ask us for one.",
      isWorthTrying: false,
    },
  ],
  [
    /^profile_(disabled|none)$/,
    {
      title: "That door is closed",
      sentence: "That way to sign in is switched off. Trying again does not help: please choose another.",
      isWorthTrying: false,
    },
  ],
  [
    /^idp_error$/,
    {
      title: "You were not signed in",
      sentence:
        "You cancelled, or were refused there. You can try again whenever you like, or choose another way.",
      isWorthTrying: true,
    },
  ],
  [/^(idp_unavailable|token\.unavailable|userinfo\.unavailable)$/, UNANSWERED],
  [
    /^id_token\.(key|signature)$/,
    {
      title: "We are not sure yet",
      sentence: "We could not tell yet that the answer is genuine. Trying again in a moment often helps.",
      isWorthTrying: true,
    },
  ],
  [/^(id_token|userinfo|response|token)\.(?!auth_time)|^idp_error\./, UNTRUSTED],
];
