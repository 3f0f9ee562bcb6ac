import { once } from "node:events";
import { createServer } from "node:net";

/** The port that is wanted, or any other if somebody has it. */
export async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? wanted;
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
