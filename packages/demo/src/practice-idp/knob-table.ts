import type { KnobSettings } from "./knobs.ts";

export type KnobName = keyof KnobSettings | "rotateKeys";

/** A knob in words, and what Latchkey's record of the sign-on says. The tests go through every line of it. */
type KnobEntry = {
  title: string;
  does: string;
  /** What stands in quotation marks is the heading that the shop shows. */
  shopper: string;
  ends: readonly Ending[];
};

/** How it is brought about, and what comes of it; `reason` is null where the sign-on goes well. */
export type Ending = {
  settings: Partial<KnobSettings>;
  /** How often the keys are rotated, each time after a sign-on. */
  rotations?: number;
  when?: string;
  reason: string | null;
};

export const knobTable: Record<KnobName, KnobEntry> = {
  rotateKeys: {
    title: "Rotate keys",
    does: "Signs with a new key from now on, and takes the old one out of the key set.",
    shopper:
      "Nothing the first time: the service meets a key that it does not know, and reads the set again. Again within ten seconds: “We are not sure yet”.",
    ends: [
      { settings: {}, rotations: 1, when: "the first time", reason: null },
      { settings: {}, rotations: 2, when: "again within ten seconds", reason: "id_token.key" },
    ],
  },
  clockSkewSeconds: {
    title: "Clock skew",
    does: "Sets this provider’s clock wrong, in its ID tokens and in the Date of its answers.",
    shopper: "“We did not trust that answer”, once the clocks are too far apart to be let pass.",
    ends: [
      { settings: { clockSkewSeconds: 600 }, when: "more than 60 s ahead", reason: "id_token.iat" },
      { settings: { clockSkewSeconds: -600 }, when: "360 s behind or more", reason: "id_token.exp" },
      { settings: { clockSkewSeconds: -300 }, when: "in between", reason: null },
    ],
  },
  tokenDelayMs: {
    title: "Slow token endpoint",
    does: "Waits before it answers at the token endpoint.",
    shopper: "A slow sign-in, or “Nobody answers there” when the service has waited for 8 seconds.",
    ends: [
      { settings: { tokenDelayMs: 9000 }, when: "8000 ms or more", reason: "token.unavailable" },
      { settings: { tokenDelayMs: 200 }, when: "less than that", reason: null },
    ],
  },
  tokenEndpointFails: {
    title: "Broken token endpoint",
    does: "Answers 500 at the token endpoint.",
    shopper:
      "“Nobody answers there”. The provider counts as degraded, and the next shopper is sent there all the same.",
    ends: [{ settings: { tokenEndpointFails: true }, reason: "token.unavailable" }],
  },
  wrongIssuer: {
    title: "Wrong issuer",
    does: "Puts another provider’s name into ID tokens.",
    shopper: "“We did not trust that answer”: the token could be anybody’s.",
    ends: [{ settings: { wrongIssuer: true }, reason: "id_token.iss" }],
  },
  twoAudiences: {
    title: "Two audiences",
    does: "Makes ID tokens out to the shop and to somebody else as well.",
    shopper: "“We did not trust that answer”: whoever else may hold the token could sign in with it.",
    ends: [{ settings: { twoAudiences: true }, reason: "id_token.aud" }],
  },
  dropEmail: {
    title: "Drop the e-mail",
    does: "Keeps every e-mail address back, in ID tokens and at UserInfo.",
    shopper: "“We need an e-mail address”, for everybody as for Cleo.",
    ends: [{ settings: { dropEmail: true }, reason: "claims.email_missing" }],
  },
  refuseConsent: {
    title: "Refuse consent",
    does: "Says no on the shopper’s behalf, as if they had pressed Cancel.",
    shopper: "“You were not signed in”, and the shop as it was before.",
    ends: [{ settings: { refuseConsent: true }, when: "with the error access_denied", reason: "idp_error" }],
  },
};
