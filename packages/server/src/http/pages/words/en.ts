import type { PageWords } from "./page-words.ts";

export const en: PageWords = {
  backTo: "Back to {shop}",
  backToShop: "Back to the shop",
  reference: "Reference",
  request: "Request",
  forDevelopers: "For the shop’s developers",
  again: {
    heading: "Please sign in again",
    foreign: {
      text: "This address does not belong to a sign-in that is under way.",
      remedy: "Trying again helps: go back to the shop and sign in from there.",
    },
    late: {
      text: "This sign-in took longer than ten minutes, so we ended it.",
      remedy: "Trying again helps: go back to the shop and sign in from there.",
    },
    otherBrowser: {
      text: "This sign-in began in another browser, or this browser does not keep cookies.",
      remedy:
        "Trying again helps if you begin and finish in the same browser, with cookies allowed: go back to the shop and sign in from there.",
    },
  },
  later: {
    heading: "Please try again in a moment",
    busy: {
      text: "Too many requests are coming from your network at the moment.",
      remedy: "Trying again helps: wait a minute, then reload this page.",
    },
    down: {
      text: "Something on our side is not working at the moment. It is not your fault, and nothing has been lost.",
      remedy: "Trying again usually helps: wait a minute, then reload this page.",
    },
  },
  shop: {
    heading: "We cannot continue",
    text: "The shop sent you here with a request that we cannot carry out.",
    remedy: "Trying again does not help. Please tell the shop, and pass on the details below.",
  },
  members: {
    again: "Trying again helps: go back to the console and sign in from there.",
    otherBrowser:
      "Trying again helps if you begin and finish in the same browser, with cookies allowed: go back to the console and sign in from there.",
    refused: {
      text: "The console sent you here with a request that we cannot carry out.",
      remedy:
        "Trying again does not help. Please tell whoever runs this service, and pass on the details below.",
    },
    forOperators: "For whoever runs this service",
  },
  signedOut: { heading: "You are signed out", text: "You can close this page." },
  signedOutHere: {
    heading: "You are signed out",
    text: "The shop wanted to send you on to a page that it has not registered with us.",
    remedy: "There is nothing left to do: you can close this page, or go back to the shop yourself.",
  },
  notSignedOut: {
    heading: "You are still signed in",
    text: "We could not tell whose session should end, so we have ended none.",
    remedy: "Trying again here does not help: go back to the shop and sign out there.",
  },
  signOut: {
    heading: "Sign out of {shop}?",
    headingWithoutName: "Sign out?",
    text: "This ends sign-ins that this browser has begun and not finished. It does not end a session at the shop: if the shop shows that you are signed in, sign out there.",
    yes: "Yes, sign out",
  },
  signInsEnded: {
    heading: "Sign-ins in this browser have ended",
    text: "Sign-ins that this browser had begun and not finished have ended. If the shop still shows that you are signed in, sign out there.",
  },
  testOver: {
    heading: "This test is over",
    text: "The link to a test sign-in works once, and for ten minutes.",
    remedy: "Trying again does not help: start a new test in the console.",
  },
  choice: { heading: "How would you like to sign in?", down: "Not responding at the moment" },
  front: {
    text: "This is Latchkey, the service that signs shoppers in to online shops.",
    lost: "If you wanted to sign in, please go back to your shop and start there.",
    console: { name: "Console", text: "for the people of a store" },
    reference: { name: "API reference", text: "for developers" },
    openapi: { name: "OpenAPI document", text: "for programs" },
    health: { name: "Health", text: "whether the service can answer" },
  },
};
