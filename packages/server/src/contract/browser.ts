/** What a browser brings to one of its legs. Cookies and the query count here and nowhere else. */
export type BrowserRequest = { search: string; cookie: string | undefined; source: string };

/** A redirect, a page to choose from, or the end of a visit. A refusal before the redirect URI is trusted is a Problem, shown as a page. */
export type BrowserAnswer = ({ location: string } | { choice: Choice } | { page: "signed_out" }) & {
  setCookie?: string;
  /** For the log, where the sign-on failed. */
  failure?: { reference: string; reason: string; cause?: unknown };
};

export type Choice = { realmName: string; options: { name: string; href: string; isDown: boolean }[] };
