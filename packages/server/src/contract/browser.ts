/** What a browser brings to one of its legs. Cookies and the query count here and nowhere else. */
export type BrowserRequest = { search: string; cookie: string | undefined; source: string };

/** A redirect, or a page to choose from. A refusal before the redirect URI is trusted is a Problem, shown as a page. */
export type BrowserAnswer = ({ location: string } | { choice: Choice }) & {
  setCookie?: string;
  /** For the log, where the sign-on failed. */
  failure?: { reference: string; reason: string; cause?: unknown };
};

export type Choice = { realmName: string; options: { name: string; href: string; isDown: boolean }[] };
