import { type Command, command, commandOn, jsonOption } from "../command.ts";

/** Commands for a member of a store, from any machine. They need the service's address, and no database. */
export const signInCommands: Command[] = [
  commandOn({
    name: "login",
    does: "Signs you in as a member of a store, with the browser of this machine.",
    argument: { value: "<url>", says: "the service's address, such as https://keys.example" },
    options: {
      store: {
        value: "<store>",
        says: "the store's id; optional where only one store of the service has members",
      },
      "no-browser": { says: "prints the address to open, and starts no browser" },
      ...jsonOption('{"url", "store": {"id", "name"}, "name", "role", "expires_at"}'),
    },
    notes: `You sign in at your store's provider, as at the console. The command then keeps an access token for an hour in
~/.config/latchkey/session.json (XDG_CONFIG_HOME or, on Windows, APPDATA names another folder), which only your user of the
machine can read. There is no refresh token: after an hour, run the command again. A program that runs without a person
needs an application key.

The browser must be on the same machine: it comes back to 127.0.0.1, to a port that the command has opened.`,
    load: async () => (await import("../remote/login.ts")).login,
  }),
  command({
    name: "logout",
    does: "Ends the access token of `latchkey login`, and deletes it from this machine.",
    options: jsonOption('{"signed_out_of": {"id", "name"} or null}'),
    load: async () => (await import("../remote/logout.ts")).logout,
  }),
  command({
    name: "token",
    does: "Prints the access token of `latchkey login`, for scripts.",
    options: jsonOption('{"url", "store": {…}, "name", "role", "access_token", "expires_at"}'),
    notes: `For example:

  curl -H "Authorization: Bearer $(latchkey token)" https://keys.example/v2/sign-ons

Exit code 1: you are not signed in, or the hour is over.`,
    load: async () => (await import("../remote/token.ts")).token,
  }),
];
