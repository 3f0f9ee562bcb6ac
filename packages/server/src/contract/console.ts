/**
 * Where people of the store sign in. Undefined where the public address has a path: the console's files and screens are at addresses of
 * their own, which a proxy that takes a path away would not lead to.
 */
export const consoleUrlOf = (publicUrl: string): string | undefined =>
  new URL(publicUrl).pathname === "/" ? `${publicUrl}/console/` : undefined;

export const NO_CONSOLE =
  "There is no console here: LATCHKEY_PUBLIC_URL has a path, and the console needs a host name of its own.";
