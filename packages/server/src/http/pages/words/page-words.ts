/** What our pages say to a shopper. Every refusal says what happened, and whether trying again helps. */
export type PageWords = {
  /** `{shop}` is the shop's name. */
  backTo: string;
  backToShop: string;
  /** What stands before what the shop can find the case by. */
  reference: string;
  request: string;
  /** What stands before words for the shop's developers, which are in English. */
  forDevelopers: string;
  /** They can start again, and it will work. */
  again: { heading: string } & Record<"foreign" | "late" | "otherBrowser", Refusal>;
  /** They can wait. */
  later: { heading: string; busy: Refusal; down: Refusal };
  /** Only the shop can mend it. */
  shop: { heading: string } & Refusal;
  /** What is said instead to people of the store, who came from the console. */
  members: {
    /** After `foreign` and `late`. */
    again: string;
    otherBrowser: string;
    /** Where others are told that only the shop can mend it. */
    refused: Refusal;
    /** What stands before words for whoever runs the service, which are in English. */
    forOperators: string;
  };
  signedOut: { heading: string; text: string };
  signedOutHere: { heading: string } & Refusal;
  notSignedOut: { heading: string } & Refusal;
  /** A sign-out that names no sign-on: the question, and the page after a Yes. No session at the shop ends, which both say. */
  signOut: { heading: string; headingWithoutName: string; text: string; yes: string };
  signInsEnded: { heading: string; text: string };
  testOver: { heading: string } & Refusal;
  choice: { heading: string; down: string };
  front: {
    text: string;
    lost: string;
    console: Place;
    reference: Place;
    openapi: Place;
    health: Place;
  };
};

export type Refusal = { text: string; remedy: string };
type Place = { name: string; text: string };
