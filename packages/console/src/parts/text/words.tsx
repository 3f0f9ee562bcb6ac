/** What stands between backticks in the service's own sentences is set as code. */
export function Words({ of }: { of: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one sentence never move
  return of.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}
