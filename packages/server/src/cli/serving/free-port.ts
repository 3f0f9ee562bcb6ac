import { once } from "node:events";
import { createServer } from "node:net";

/** The wanted port, or another one if it is taken. */
export async function freePort(wanted: number, given: readonly number[] = []): Promise<number> {
  const isGiven = wanted !== 0 && given.includes(wanted);
  return (isGiven ? undefined : await tryPort(wanted)) ?? (await tryPort(0)) ?? wanted;
}

async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as { port: number }).port;
  } catch {
    return undefined;
  } finally {
    server.close();
  }
}
