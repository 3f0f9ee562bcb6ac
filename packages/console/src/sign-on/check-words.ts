/**
 * The subject of each check, in words. A check of a logout token has the words of the same check of an ID token.
 * A check without an entry is shown by its code.
 */
const WORDS: Record<string, string> = {
  "response.iss": "Issuer in the redirect",
  "token.type": "Access token type",
  "token.encoded_credentials": "Client ID and secret readable by every provider",
  "id_token.missing": "ID token present",
  "id_token.malformed": "Format",
  "id_token.json": "JSON readable",
  "id_token.encrypted": "Not encrypted",
  "id_token.alg": "Signature algorithm",
  "id_token.key": "Signing key",
  "id_token.keys_unread": "Provider’s keys readable",
  "id_token.signature": "Signature valid",
  "id_token.iss": "Issuer",
  "id_token.aud": "Audience",
  "id_token.azp": "Authorized party",
  "id_token.exp": "Not expired",
  "id_token.iat": "Time of issue",
  "id_token.nbf": "Already valid",
  "id_token.nonce": "Nonce matches",
  "id_token.sub": "Subject",
  "id_token.auth_time": "Time of the last sign-in at the provider",
  "id_token.at_hash": "Access token hash matches",
  "userinfo.json": "UserInfo: JSON readable",
  "userinfo.signature": "UserInfo: signature valid",
  "userinfo.sub": "UserInfo: same subject",
  "claims.email": "E-mail address",
};

export const checkInWords = (check: string): string =>
  WORDS[check] ?? WORDS[check.replace(/^logout_token\./, "id_token.")] ?? check;
