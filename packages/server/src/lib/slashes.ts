/** Without the slashes at its end, so that a path can be put behind it. */
export function withoutSlashes(url: string): string {
  let end = url.length;
  while (url.endsWith("/", end)) end--;
  return url.slice(0, end);
}
