import { setTimeout as wait } from "node:timers/promises";
import type { KnobSettings } from "./knobs.ts";
import type { Context, Provider } from "./oidc-provider.ts";
import { type Claims, resign, type SigningKey } from "./signing-key.ts";

export const TOKEN_PATH = "/token";

/** A reserved name (RFC 2606). */
const IMPOSTOR = "https://impostor.example";
const SECOND_AUDIENCE = "another-shop.example";

/** `closing` aborts delayed requests. */
type Deps = { settings: () => KnobSettings; key: SigningKey; closing: AbortSignal };

/**
 * Wraps the library's token endpoint: delays it, answers 500, or signs its ID token again with wrong claims.
 */
export function addTokenFaults(provider: Provider, { settings, key, closing }: Deps): void {
  provider.use(async (context, next) => {
    if (context.method !== "POST" || context.path !== TOKEN_PATH) return next();
    const { tokenDelayMs, tokenEndpointFails } = settings();
    if (tokenDelayMs > 0) await wait(tokenDelayMs, undefined, { signal: closing }).catch(() => {});
    // The client closed the connection during the delay, so its request cannot be answered.
    if (context.req.destroyed) return;
    if (tokenEndpointFails) return failPlainly(context);
    await next();
    const answer = context.body as { id_token?: unknown } | undefined;
    const current = settings();
    if (typeof answer?.id_token !== "string" || !isForging(current)) return;
    answer.id_token = resign(answer.id_token, key, (claims) => forge(claims, current));
  });
}

/**
 * Answers a plain 500, as a proxy does whose server is down. An OAuth error would count as the provider's
 * answer.
 */
function failPlainly(context: Context): void {
  context.status = 500;
  context.body = "The practice provider was told to fail here.\n";
}

const isForging = ({ wrongIssuer, twoAudiences, clockSkewSeconds }: KnobSettings): boolean =>
  wrongIssuer || twoAudiences || clockSkewSeconds !== 0;

function forge(claims: Claims, { wrongIssuer, twoAudiences, clockSkewSeconds }: KnobSettings): Claims {
  const times = Object.fromEntries(
    ["iat", "exp", "auth_time"]
      .filter((name) => typeof claims[name] === "number")
      .map((name) => [name, (claims[name] as number) + clockSkewSeconds]),
  );
  return {
    ...claims,
    ...times,
    ...(wrongIssuer && { iss: IMPOSTOR }),
    ...(twoAudiences && { aud: [claims.aud, SECOND_AUDIENCE] }),
  };
}
