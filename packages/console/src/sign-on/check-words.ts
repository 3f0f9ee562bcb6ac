/** What each check of a sign-on compares, in words. One that is not here is shown by its code. */
const WORDS: Record<string, string> = {
  "response.iss": "The redirect names the issuer that was asked",
  "token.type": "Type of the provider's access token",
  "id_token.missing": "There is an ID token",
  "id_token.malformed": "The ID token is a signed token",
  "id_token.json": "The JSON in the ID token can be read",
  "id_token.encrypted": "The ID token is not encrypted",
  "id_token.alg": "Algorithm of the signature",
  "id_token.key": "Key of the signature",
  "id_token.keys_unread": "The provider's keys can be read",
  "id_token.signature": "The signature fits",
  "id_token.iss": "Issuer of the ID token",
  "id_token.aud": "Whom the ID token is for",
  "id_token.azp": "Party that asked for it",
  "id_token.exp": "Not expired",
  "id_token.iat": "Issued just now",
  "id_token.nbf": "Valid already",
  "id_token.nonce": "Made for this very sign-on (nonce)",
  "id_token.sub": "Who the provider says it is",
  "id_token.auth_time": "When the person last showed who they are",
  "id_token.at_hash": "Belongs to the access token",
  "userinfo.json": "The JSON of UserInfo can be read",
  "userinfo.signature": "The signature of UserInfo fits",
  "userinfo.sub": "UserInfo speaks of the same person",
  "claims.email": "E-mail address",
};

export const checkInWords = (check: string): string => WORDS[check] ?? check;
