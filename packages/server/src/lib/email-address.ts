import { domainToASCII } from "node:url";

/** One e-mail address in its one spelling: `shown` to people and used for mail, `key` for comparing and nothing else. */
export type EmailAddress = { shown: string; key: string };

/** RFC 5321 4.5.3.1: what fits between the angle brackets of a mail command. */
const MAX_OCTETS = 254;
const MAX_LOCAL_LENGTH = 64;

/** Whatever is longer than this cannot become an address, and normalizing is not free. */
const MAX_LENGTH = 1024;

/** What separates addresses, quotes, comments or cannot be seen: the ways in which one text becomes two addresses. */
const FORBIDDEN = /[\p{C}\p{Z},;:<>()[\]"\\]/u;

/**
 * ASCII that no host name has. Looked for before `domainToASCII`, which reads its argument like the host of a URL: it
 * would decode `%70` and drop what follows a slash, so that `shop.example/x` and `shop.example` were the same.
 */
const NOT_HOST = /[^\P{ASCII}A-Za-z0-9.-]/u;

/** Letters, digits and inner hyphens. */
const HOST_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
/** A last label of digits is an IP address, which has several spellings. */
const IP_ADDRESS = /(?:^|\.)\d+$/;

/**
 * Reads one address strictly and returns its canonical spelling; anything doubtful is refused. Counted and cut after NFKC,
 * because mail software that normalizes later would see the second `@` or the comma that we did not (CVE-2026-73420).
 */
export function parseEmail(text: string): EmailAddress | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const normal = text.normalize("NFKC");
  if (FORBIDDEN.test(normal)) return undefined;
  const [local = "", domain = "", ...more] = normal.split("@");
  if (more.length > 0 || local === "" || local.length > MAX_LOCAL_LENGTH) return undefined;
  // A mailbox that NFKC changes (beyond NFC) is refused: its normalized name may be another person's mailbox.
  if (!text.normalize("NFC").startsWith(local)) return undefined;
  const host = NOT_HOST.test(domain) ? "" : domainToASCII(domain);
  if (!HOST_NAME.test(host) || IP_ADDRESS.test(host)) return undefined;
  const shown = `${local}@${host}`;
  return Buffer.byteLength(shown) > MAX_OCTETS ? undefined : { shown, key: shown.toLowerCase() };
}

/** One that was parsed when it came in: a text that is no address can only mean that somebody has changed our database. */
export function emailOf({ email }: { email: string }): EmailAddress {
  const parsed = parseEmail(email);
  if (!parsed) throw new Error("an identity has an e-mail that is none");
  return parsed;
}
