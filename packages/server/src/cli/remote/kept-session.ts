import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { operatorFault } from "../../lib/operator-fault.ts";
import { readJson } from "../read-json.ts";

/** The sign-in of `latchkey login`, in a file that only this user of the machine can read. */
export type KeptSession = {
  url: string;
  store: { id: string; name: string };
  /** The member. */
  name: string;
  role: string;
  access_token: string;
  expires_at: string;
};

/** The variables that name the folder. */
type FolderVariables = Readonly<Record<string, string | undefined>>;

/** The user's folder for configuration. The XDG specification ignores a relative path. */
export function sessionFile(env: FolderVariables, platform: NodeJS.Platform = process.platform): string {
  const named = platform === "win32" ? env.APPDATA : env.XDG_CONFIG_HOME;
  const folder = named && isAbsolute(named) ? named : join(homedir(), ".config");
  return join(folder, "latchkey", "session.json");
}

/** Writes a new file and renames it, so that a file with wider permissions is replaced and not reused. */
export function keepSession(env: FolderVariables, session: KeptSession): string {
  const file = sessionFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const written = `${file}.${randomBytes(6).toString("hex")}`;
  writeFileSync(written, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(written, file);
  return file;
}

export function findSession(env: FolderVariables): KeptSession | undefined {
  try {
    const session = readJson<Partial<KeptSession>>(readFileSync(sessionFile(env), "utf8"));
    return session?.url && session.access_token && session.expires_at ? (session as KeptSession) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export const forgetSession = (env: FolderVariables): void => rmSync(sessionFile(env), { force: true });

/** The sign-in, if its token is still valid. There is no refresh token. */
export function getSession(env: FolderVariables, nowMs: number): KeptSession {
  const session = findSession(env);
  if (!session) throw operatorFault("you are not signed in: run `latchkey login <url>`");
  if (Date.parse(session.expires_at) > nowMs) return session;
  throw operatorFault(`the sign-in has expired: run \`latchkey login ${session.url}\``);
}
