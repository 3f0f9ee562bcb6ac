/** The members that a request has named: the others are undefined, and must not replace a default. */
export const given = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;

export type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };
