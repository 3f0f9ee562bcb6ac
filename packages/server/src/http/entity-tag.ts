/** RFC 9110 8.8.3: a version in quotes. */
export const toEntityTag = (version: string): string => `"${version}"`;

/**
 * The versions that `If-Match` names; undefined when it is absent, or `*`. What is no entity tag matches nothing. A proxy that
 * compresses marks our tags as weak (`W/`): they still name the version that was read.
 */
export function readIfMatch(field: string | undefined): readonly string[] | undefined {
  const value = field?.trim();
  if (value === undefined || value === "*") return undefined;
  return [...value.matchAll(/(?:^|,)\s*(?:W\/)?"([\x21\x23-\x7e]*)"\s*(?=,|$)/g)].map(
    ([, version]) => version ?? "",
  );
}
