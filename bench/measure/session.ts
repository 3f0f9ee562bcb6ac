import { type Databases, openDatabases } from "../servers/databases.ts";
import { type Process, startServer } from "../servers/process.ts";

/** The processes of every run: databases, the identity provider (`idp` is its origin) and the load generator. */
export type Session = { databases: Databases; idp: string; load: Process };

/** Starts the session, and ends all its processes when `work` returns or throws. */
export async function withSession(work: (session: Session) => Promise<void>): Promise<void> {
  const databases = await openDatabases();
  const idp = await startServer<{ origin: string }>("load/idp.ts");
  const load = await startServer("load/generator.ts");
  try {
    await work({ databases, idp: idp.ready.origin, load });
  } finally {
    await load.stop();
    await idp.stop();
    await databases.remove();
  }
}
