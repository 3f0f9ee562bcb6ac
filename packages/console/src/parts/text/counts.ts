/** "1 sign-on", "1,204 sign-ons", "no sign-on". `one` is the noun for one; the plural ends in s unless given. */
export function counted(count: number, one: string, many = `${one}s`): string {
  if (count === 0) return `no ${one}`;
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** The size of a list, of which the service counts only the first entries. */
export function countedList(
  { total, totalIsAtLeast }: { total: number; totalIsAtLeast: boolean },
  one: string,
  many = `${one}s`,
): string {
  return totalIsAtLeast ? `${total.toLocaleString("en")} or more ${many}` : counted(total, one, many);
}

/** Begins a sentence with a count. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
