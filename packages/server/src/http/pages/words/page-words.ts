/** The texts of the pages that shoppers see. Every refusal says what happened and what to do. */
export type PageWords = {
  /** `{shop}` is the shop's name. */
  backTo: string;
  backToShop: string;
  /** The label of the reference, by which the shop finds the record. */
  reference: string;
  /** The label of the request's id, by which the operator finds the lines of the log. */
  request: string;
  /** The label of the text for the shop's developers, which is in English. */
  forDevelopers: string;
  /** The shopper can start again. */
  again: { heading: string } & Record<"foreign" | "late" | "otherBrowser", Refusal>;
  /** The shopper can wait. */
  later: { heading: string; busy: Refusal; down: Refusal };
  /** Only the shop can fix it. */
  shop: { heading: string } & Refusal;
  /** Texts for members of the store, who sign in at the console. */
  members: {
    /** The remedy of `foreign` and `late`. */
    again: string;
    otherBrowser: string;
    /** Takes the place of `shop`. */
    refused: Refusal;
    /** The label of the text for the operator, which is in English. */
    forOperators: string;
  };
  signedOut: { heading: string; text: string };
  signedOutHere: { heading: string } & Refusal;
  notSignedOut: { heading: string } & Refusal;
  /**
   * The question of a sign-out without an ID token, and the page after Yes. Both say that no session at the shop ends.
   */
  signOut: { heading: string; headingWithoutName: string; text: string; yes: string };
  signInsEnded: { heading: string; text: string };
  testOver: { heading: string } & Refusal;
  choice: { heading: string; down: string };
  front: { text: string; lost: string } & Record<FrontLink, { name: string; text: string }>;
};

export type FrontLink = "console" | "reference" | "openapi" | "health";
export type Refusal = { text: string; remedy: string };
