/**
 * The console's URL. Undefined when the public URL has a path: the console's files and screens have fixed addresses,
 * which a proxy that removes a path prefix would not reach.
 */
export const consoleUrlOf = (publicUrl: string): string | undefined =>
  new URL(publicUrl).pathname === "/" ? `${publicUrl}/console/` : undefined;

export const NO_CONSOLE =
  "There is no console here: LATCHKEY_PUBLIC_URL has a path, and the console needs a host name of its own.";
