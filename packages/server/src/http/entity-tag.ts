/** A version in quotes (RFC 9110, section 8.8.3). */
export const toEntityTag = (version: string): string => `"${version}"`;

/**
 * The versions in `If-Match`; undefined when the header is absent or `*`. Text that is no entity tag matches nothing. A
 * compressing proxy marks tags as weak (`W/`); they still name the version.
 */
export function readIfMatch(field: string | undefined): readonly string[] | undefined {
  const value = field?.trim();
  if (value === undefined || value === "*") return undefined;
  return [...value.matchAll(/(?:^|,)\s*(?:W\/)?"([\x21\x23-\x7e]*)"\s*(?=,|$)/g)].map(
    ([, version]) => version ?? "",
  );
}
