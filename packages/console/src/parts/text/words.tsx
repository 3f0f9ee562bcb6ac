/** Shows text between backticks as code. */
export function Words({ of }: { of: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence keep their order
  return of.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}
