/**
 * The members that have a value. `undefined` means that a request did not name the member, so it must not replace a
 * default.
 */
export const given = <T extends object>(members: T): Given<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<T>;

export type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };
