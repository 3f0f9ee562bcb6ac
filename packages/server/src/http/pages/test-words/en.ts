/**
 * The texts of the page of a test sign-on. Its reader administers the store. Names of checks, reasons and values are
 * code, the same in all languages. Requirements and their states have their texts in `setup-words`.
 */
export const en = {
  title: "Test sign-on",
  passed: { heading: "Test passed", text: "This person would be signed in now." },
  failed: { heading: "Test failed" },
  // For screen readers, in the place of ✓ and ✗.
  marks: { passed: "passed", failed: "failed" },
  answer: {
    heading: "Answer of the provider",
    from: "From",
    calls: {
      discovery: "discovery document",
      authorize: "authorization endpoint",
      token: "token endpoint",
      userinfo: "UserInfo endpoint",
    },
    status: "HTTP status",
    // The fault itself is a word of the service, in English.
    fault: "Fault",
  },
  person: {
    email: "E-mail",
    verified: "{email} (verified by the provider)",
    unverified: "{email} (not verified by the provider)",
    name: "Name",
    subject: "Subject",
  },
  requirements: {
    heading: "Requirements that only a sign-on can check",
    confirmed: "Confirmed by this sign-on.",
    notReached: "This sign-on ended before this could be checked.",
  },
  checks: {
    heading: "Checks",
    expected: "Expected",
    found: "Found",
    asExpected: "As expected",
    notAsExpected: "Not as expected",
  },
  time: {
    heading: "Time",
    steps: {
      discovery: "Discovery document",
      wait: "Queue",
      token: "Token endpoint",
      identify: "Keys, ID token, UserInfo",
    },
  },
  nothingCreated: "No customer, code or token was created.",
};

export type TestWords = typeof en;
