import { isLocalUrl } from "../lib/local-url.ts";

/** Fields of every answer. Pages of our own (the reference, the console) replace the policy with a wider one. */
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

/** Not for localhost: the demand holds for every port of a host, so other programs of the machine would be cut off from their http pages. */
const mayDemandTls = (publicUrl: string): boolean => publicUrl.startsWith("https:") && !isLocalUrl(publicUrl);

/**
 * A storefront's page calls these with its bearer token, or with a code and its verifier. No cookie counts there, so any
 * origin may. The legs that a browser walks are not among them.
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

/** Beside those of `corsHeaders`. `*` leaves out Authorization, so that one is named. A day is how long a browser may remember. */
export function preflightHeaders(path: string): Record<string, string> | undefined {
  if (!isOpenToOrigins(path)) return undefined;
  return {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, *",
    "Access-Control-Max-Age": "86400",
  };
}
