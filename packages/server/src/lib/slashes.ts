/** Removes slashes at the end, so that a path can be appended. */
export function withoutSlashes(url: string): string {
  let end = url.length;
  while (url.endsWith("/", end)) end--;
  return url.slice(0, end);
}
