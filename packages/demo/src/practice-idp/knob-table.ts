import type { KnobSettings } from "./knobs.ts";

export type KnobName = keyof KnobSettings | "rotateKeys";

/** A knob's texts, and the reasons that Latchkey's record has. Tests run every entry. */
type KnobEntry = {
  title: string;
  does: string;
  /** The text in quotation marks is the heading of the shop's page. */
  shopper: string;
  ends: readonly Ending[];
};

/** The settings of a sign-on and its reason; null if the sign-on succeeds. */
export type Ending = {
  settings: Partial<KnobSettings>;
  /** The number of key rotations, each after a sign-on. */
  rotations?: number;
  when?: string;
  reason: string | null;
};

export const knobTable: Record<KnobName, KnobEntry> = {
  rotateKeys: {
    title: "Rotate keys",
    does: "Signs with a new key from now on, and removes the old key from the key set.",
    shopper:
      "No change the first time: the service finds an unknown key, and reads the key set again. A second time within ten seconds: “Please try again”.",
    ends: [
      { settings: {}, rotations: 1, when: "the first time", reason: null },
      { settings: {}, rotations: 2, when: "again within ten seconds", reason: "id_token.key" },
    ],
  },
  clockSkewSeconds: {
    title: "Clock skew",
    does: "Changes this provider’s clock, in ID tokens and in the Date field of its answers.",
    shopper: "“We couldn’t verify your sign-in”, if the clocks differ too much.",
    ends: [
      { settings: { clockSkewSeconds: 600 }, when: "more than 60 s ahead", reason: "id_token.iat" },
      { settings: { clockSkewSeconds: -600 }, when: "360 s behind or more", reason: "id_token.exp" },
      { settings: { clockSkewSeconds: -300 }, when: "in between", reason: null },
    ],
  },
  tokenDelayMs: {
    title: "Slow token endpoint",
    does: "Waits before the token endpoint answers.",
    shopper:
      "A slow sign-in, or “That sign-in service isn’t responding” when the service has waited for 8 seconds.",
    ends: [
      { settings: { tokenDelayMs: 9000 }, when: "8000 ms or more", reason: "token.unavailable" },
      { settings: { tokenDelayMs: 200 }, when: "less than that", reason: null },
    ],
  },
  tokenEndpointFails: {
    title: "Broken token endpoint",
    does: "Answers 500 at the token endpoint.",
    shopper:
      "“That sign-in service isn’t responding”. The provider’s health becomes degraded, but shoppers can still choose it.",
    ends: [{ settings: { tokenEndpointFails: true }, reason: "token.unavailable" }],
  },
  wrongIssuer: {
    title: "Wrong issuer",
    does: "Writes another provider’s issuer into ID tokens.",
    shopper: "“We couldn’t verify your sign-in”: the token may come from another provider.",
    ends: [{ settings: { wrongIssuer: true }, reason: "id_token.iss" }],
  },
  twoAudiences: {
    title: "Two audiences",
    does: "Names two audiences in ID tokens: the shop and another client.",
    shopper: "“We couldn’t verify your sign-in”: the other client could sign in with the token.",
    ends: [{ settings: { twoAudiences: true }, reason: "id_token.aud" }],
  },
  dropEmail: {
    title: "Drop the e-mail",
    does: "Leaves e-mail addresses out of ID tokens and UserInfo.",
    shopper: "“We need an e-mail address”, for everyone, as for Cleo.",
    ends: [{ settings: { dropEmail: true }, reason: "claims.email_missing" }],
  },
  refuseConsent: {
    title: "Refuse consent",
    does: "Refuses consent, as if the shopper had pressed Cancel.",
    shopper: "“You were not signed in”.",
    ends: [{ settings: { refuseConsent: true }, when: "with the error access_denied", reason: "idp_error" }],
  },
};
