import { isLocalUrl } from "../lib/local-url.ts";

/** Headers of every answer. The reference and the console replace the content policy with a wider one. */
export function securityHeaders(publicUrl: string): Record<string, string> {
  return {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    ...(mayDemandTls(publicUrl) && { "Strict-Transport-Security": "max-age=31536000" }),
  };
}

/** The content policy of the reference and the console, which load only files of this service. */
export const ownFilesOnly = (images: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${images}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * Not for localhost: HSTS holds for every port of a host, and would break http pages of other programs on the machine.
 */
const mayDemandTls = (publicUrl: string): boolean => publicUrl.startsWith("https:") && !isLocalUrl(publicUrl);

/**
 * CORS for paths that a storefront's page calls with its bearer token, or with a code and its verifier. They use no
 * cookie, so every origin is allowed. The browser legs are not among them.
 */
const isOpenToOrigins = (path: string): boolean =>
  path.startsWith("/v2/") ||
  path.startsWith("/oauth/") ||
  path === "/.well-known/jwks.json" ||
  /^\/sign-on\/stores\/[^/]+\/realms\/[^/]+\/(token|revoke|userinfo|\.well-known\/openid-configuration)\/?$/.test(
    path,
  );

export function corsHeaders(path: string): Record<string, string> {
  if (!isOpenToOrigins(path)) return {};
  return {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
  };
}

/**
 * Headers of preflight answers, beside `corsHeaders`. `*` does not cover Authorization, so it is named. Browsers may
 * cache a preflight for a day.
 */
export function preflightHeaders(path: string): Record<string, string> | undefined {
  if (!isOpenToOrigins(path)) return undefined;
  return {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, *",
    "Access-Control-Max-Age": "86400",
  };
}
