import { domainToASCII } from "node:url";

/** An e-mail address in one spelling: `shown` for people and for mail, `key` for comparison only. */
export type EmailAddress = { shown: string; key: string };

/** RFC 5321, section 4.5.3.1: the length of an address in a mail command. */
const MAX_OCTETS = 254;
const MAX_LOCAL_LENGTH = 64;

/** Longer text cannot be an address and is refused before normalizing, which is not free. */
const MAX_LENGTH = 1024;

/** Separators, quotes, comments and invisible characters, which can make two addresses of one text. */
const FORBIDDEN = /[\p{C}\p{Z},;:<>()[\]"\\]/u;

/**
 * ASCII characters that no host name has. Checked before `domainToASCII`, which reads its argument like the host of a
 * URL: it decodes `%70` and drops the text after a slash.
 */
const NOT_HOST = /[^\P{ASCII}A-Za-z0-9.-]/u;

/** Letters, digits and inner hyphens. */
const HOST_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** A numeric last label makes an IP address, which has several spellings. */
const IP_ADDRESS = /(?:^|\.)\d+$/;

/**
 * Reads one address strictly and returns its canonical spelling; doubtful text is refused. Splits and counts after
 * NFKC, because mail software that normalizes later would see an `@` or a comma that this check did not
 * (CVE-2026-73420).
 */
export function parseEmail(text: string): EmailAddress | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const normal = text.normalize("NFKC");
  if (FORBIDDEN.test(normal)) return undefined;
  const [local = "", domain = "", ...more] = normal.split("@");
  if (more.length > 0 || local === "" || local.length > MAX_LOCAL_LENGTH) return undefined;
  // A mailbox that NFKC changes beyond NFC is refused: its normalized name may be another person's mailbox.
  if (!text.normalize("NFC").startsWith(local)) return undefined;
  const host = NOT_HOST.test(domain) ? "" : domainToASCII(domain);
  if (!HOST_NAME.test(host) || IP_ADDRESS.test(host)) return undefined;
  const shown = `${local}@${host}`;
  return Buffer.byteLength(shown) > MAX_OCTETS ? undefined : { shown, key: shown.toLowerCase() };
}

/** For an address parsed before it was stored. If parsing fails now, the database was changed by hand. */
export function emailOf({ email }: { email: string }): EmailAddress {
  const parsed = parseEmail(email);
  if (!parsed) throw new Error("an identity has an e-mail that is none");
  return parsed;
}
