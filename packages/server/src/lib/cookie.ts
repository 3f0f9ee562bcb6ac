/** The value of a cookie, as the browser sent it. A name that comes twice is somebody's trick, and counts as none. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}
