import { limits } from "../contract/limits.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Caller } from "./calls.ts";
import { type Document, fetchDocument, type Metadata } from "./discovery.ts";
import type { Profile } from "./profile.ts";

type UserinfoReason = Extract<SignOnReason, `userinfo.${string}`>;
type Userinfo = { claims: Document } | { reason: UserinfoReason };

/**
 * What the UserInfo endpoint says of the ID token's subject. About anybody else it says nothing that we may use (Core
 * 5.3.2). Plain JSON only; claims that it points to elsewhere are not fetched: that would let it send us anywhere.
 */
export async function fetchUserinfo(
  { calls }: { calls: Caller },
  profile: Profile,
  { userinfoEndpoint }: Metadata,
  accessToken: string,
  subject: string,
): Promise<Userinfo> {
  // A token with a line break in it is no token (RFC 6749 A.12), and would be a second header.
  if (userinfoEndpoint === null || !/^[\x21-\x7e]+$/.test(accessToken)) {
    return { reason: "userinfo.unavailable" };
  }
  const headers = { Authorization: `Bearer ${accessToken}` };
  const found = await fetchDocument(
    (request) => calls.send(profile.id, { ...request, headers }),
    "userinfo",
    userinfoEndpoint,
    limits.idpAnswerBytes,
  );
  if ("reason" in found) {
    return { reason: found.reason === "not_json" ? "userinfo.malformed" : "userinfo.unavailable" };
  }
  return found.document.sub === subject ? { claims: found.document } : { reason: "userinfo.sub" };
}
