/** The texts of the pages that shoppers see. Every refusal says what happened and what to do. */
export const en = {
  // `{shop}` is the shop's name.
  backTo: "Back to {shop}",
  backToShop: "Back to the shop",
  // The shop finds the record by the reference, the operator the lines of the log by the request's id.
  reference: "Reference",
  request: "Request ID",
  // The label of the text for the shop's developers, which is in English.
  forDevelopers: "For the shop’s developers",
  // The shopper can start again.
  again: {
    heading: "Please sign in again",
    foreign: {
      text: "This link does not belong to a sign-in in progress.",
      remedy: "Go back to the shop and sign in again.",
    },
    late: {
      text: "This sign-in has expired. A sign-in can take ten minutes at most.",
      remedy: "Go back to the shop and sign in again.",
    },
    otherBrowser: {
      text: "This sign-in was started in another browser, or this browser blocks cookies.",
      remedy:
        "Allow cookies, go back to the shop and sign in again. Use the same browser from start to finish.",
    },
  },
  // The shopper can wait.
  later: {
    heading: "Please try again in a minute",
    busy: {
      text: "We are receiving too many requests from your network.",
      remedy: "Wait a minute, then reload this page.",
    },
    down: {
      text: "Something went wrong on our side. You did nothing wrong, and nothing was lost.",
      remedy: "Wait a minute, then reload this page. This usually helps.",
    },
  },
  // Only the shop can fix it.
  shop: {
    heading: "We cannot continue",
    text: "The shop sent a request that we cannot process.",
    remedy: "Trying again will not help. Please contact the shop and quote the details below.",
  },
  // For members of the store, who sign in at the console.
  members: {
    // The remedy of `foreign` and `late`.
    again: "Go back to the console and sign in again.",
    otherBrowser:
      "Allow cookies, go back to the console and sign in again. Use the same browser from start to finish.",
    // Takes the place of `shop`.
    refused: {
      text: "The console sent a request that we cannot process.",
      remedy:
        "Trying again will not help. Please contact the operator of this service and quote the details below.",
    },
    // The label of the text for the operator, which is in English.
    forOperators: "For the operator of this service",
  },
  signedOut: { heading: "You are signed out", text: "You can close this page." },
  signedOutHere: {
    heading: "You are signed out",
    text: "The shop asked us to send you to a page that is not registered, so we did not open it.",
    remedy: "You do not need to do anything else. Close this page, or go back to the shop.",
  },
  notSignedOut: {
    heading: "You are still signed in",
    text: "We could not find the session that should end, so no session was ended.",
    remedy: "Trying again here will not help. Go back to the shop and sign out there.",
  },
  // The question of a sign-out without an ID token. It and the page after Yes say that no session at the shop ends.
  signOut: {
    heading: "Sign out of {shop}?",
    headingWithoutName: "Sign out?",
    text: "This cancels the sign-ins that were started in this browser and are not finished. It does not end your session at the shop: if the shop still shows you as signed in, sign out there.",
    yes: "Yes, sign out",
  },
  signInsEnded: {
    heading: "Unfinished sign-ins were cancelled",
    text: "The sign-ins that were started in this browser and not finished were cancelled. If the shop still shows you as signed in, sign out there.",
  },
  testOver: {
    heading: "This test link is no longer valid",
    text: "A test link works once and expires after ten minutes.",
    remedy: "Start a new test in the console.",
  },
  choice: { heading: "How would you like to sign in?", down: "Not responding at the moment" },
  front: {
    text: "This is Latchkey. Online shops use it to sign in their customers.",
    lost: "If you want to sign in, go back to your shop and start there.",
    console: { name: "Console", text: "for store staff" },
    reference: { name: "API reference", text: "for developers" },
    openapi: { name: "OpenAPI document", text: "for programs" },
    health: { name: "Health", text: "whether the service is ready" },
  },
};

export type PageWords = typeof en;
export type Refusal = { text: string; remedy: string };
