import { limits } from "../contract/limits.ts";
import type { DocumentFailure, DocumentReason } from "./discovery.ts";

const reasons: Record<DocumentReason, string> = {
  resting: "it failed several times in a row, and Latchkey does not call it for a moment",
  address_not_allowed:
    "its address is not allowed: it must be https on the standard port, with a public host name",
  host_unknown: "its host name is not known",
  host_not_public: "its host is not on the public internet",
  connect_failed: "no connection could be made",
  tls_name: "its certificate is for another host name",
  tls_unknown_authority: "its certificate was issued by an authority that is not known here",
  tls_expired: "its certificate has expired, or is not valid yet",
  tls_failed: "no TLS connection could be made",
  too_slow: "it did not answer in time",
  too_large: "its answer is too large",
  answer_broken: "its answer broke off or is not HTTP",
  answer_encoded: "its answer is compressed, although plain text was requested",
  redirected: "it answers with a redirect, which Latchkey does not follow",
  status_not_200: "it does not answer 200",
  not_json: "its answer is not a JSON object",
  duplicate_member: "its answer is JSON with a member twice in the same object",
  too_deep: `its answer is JSON of more than ${limits.jsonDepth} levels`,
  lone_surrogate: "its answer is JSON with half of a surrogate pair in it",
};

/** For the reasons that an operator can remove. */
const remedies: Partial<Record<DocumentReason, string>> = {
  tls_unknown_authority:
    "start Latchkey with NODE_EXTRA_CA_CERTS=<file with that authority's certificate> to make it known",
  tls_name: "use the host name that the certificate is for, or have one made for this name",
};

/** Latchkey refused the address, and sent no request. */
const isBarred = (reason: DocumentReason): boolean =>
  reason === "address_not_allowed" || reason === "host_not_public";

/** Whether the sentence of `explainDocumentFailure` has a remedy. Then a hint to check the address would mislead. */
export const hasRemedy = ({ reason }: DocumentFailure): boolean =>
  isBarred(reason) || remedies[reason] !== undefined;

/** Why a document was not read: a sentence without its full stop, and without text of the other side. */
export function explainDocumentFailure({ reason, status }: DocumentFailure, url?: string): string {
  const said = status === null ? "" : ` (HTTP status ${status})`;
  const remedy = isBarred(reason) ? allow(url) : remedies[reason];
  return `${reasons[reason]}${said}${remedy === undefined ? "" : `; ${remedy}`}`;
}

function allow(url = ""): string {
  const origin = /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url).origin : "<its origin>";
  return `the operator can allow it with LATCHKEY_EGRESS_ALLOW=${origin}`;
}
