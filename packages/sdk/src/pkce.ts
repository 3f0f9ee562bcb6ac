/** PKCE (RFC 7636). Each sign-on has its own verifier, which leaves the browser only with the code. */

/** 256 random bits in base64url: 43 characters. */
export const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

export async function challengeOf(verifier: string): Promise<string> {
  // Browsers have no `crypto.subtle` on pages that came over plain http.
  if (!crypto.subtle) throw new TypeError("Sign-on needs a page that came over https, or from localhost.");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (char) => ({ "+": "-", "/": "_" })[char] ?? "");
