import { createHttpClient } from "../load/http-client.ts";
import type { Runner } from "../measure/measure.ts";
import type { Session } from "../measure/session.ts";
import { createStore, envOf, startLatchkey } from "../servers/latchkey.ts";
import { startServer } from "../servers/process.ts";
import { signOnWithBetterAuth } from "../workloads/better-auth.ts";
import type { Contestant, Engine, Target } from "../workloads/workload.ts";
import { DEX, startDex } from "../yardsticks/dex.ts";

/** Starts a contestant when a comparison first needs it, and keeps it running until `stop`. */
export type Contestants = {
  get(contestant: Contestant, engine: Engine): Promise<Runner>;
  stop(): Promise<void>;
};

/** These have a database of their own or none. They are measured once, beside Latchkey on SQLite. */
const ONLY_BESIDE_SQLITE: readonly Contestant[] = [
  "hono",
  "argon2",
  "better-auth",
  "oidc-provider",
  "dex-memory",
  "dex-sqlite",
];

export const takesPart = (contestant: Contestant, engine: Engine): boolean =>
  (engine === "sqlite" || !ONLY_BESIDE_SQLITE.includes(contestant)) &&
  (DEX !== undefined || !contestant.startsWith("dex-"));

type ContestantsDeps = Pick<Session, "databases" | "idp"> & { beside?: string | undefined };

export function createContestants({ databases, idp, beside }: ContestantsDeps): Contestants {
  const running = new Map<string, Runner>();

  const start: Record<Contestant, (engine: Engine) => Promise<Runner>> = {
    latchkey: async (engine) => startLatchkey({ databaseUrl: await databases.create(engine), idp }),
    before: async (engine) =>
      startLatchkey({
        databaseUrl: await databases.create(engine),
        idp,
        contestant: "before",
        ...(beside !== undefined && { checkout: beside }),
      }),
    async limit(engine) {
      const databaseUrl = await databases.create(engine);
      const { store, application_key: key } = await createStore(envOf(databaseUrl, idp));
      const { server, target } = await startYardstick("limit", {
        DATABASE_URL: databaseUrl,
        STORE: store.id,
      });
      const { client_id: clientId, client_secret: clientSecret } = key;
      return { server, target: { ...target, storeId: store.id, clientId, clientSecret } };
    },
    hono: () => startYardstick("hono"),
    argon2: () => startYardstick("argon2"),
    async "better-auth"() {
      const { server, target } = await startYardstick("better-auth", { DATABASE: await newFile() });
      const client = createHttpClient();
      const token = await signOnWithBetterAuth(client, target, "reader");
      client.close();
      return { server, target: { ...target, customer: { ...target.customer, token } } };
    },
    "oidc-provider": async () => startYardstick("oidc-provider", { DATABASE: await newFile() }),
    "dex-memory": () => startDexAs("dex-memory", "memory"),
    "dex-sqlite": () => startDexAs("dex-sqlite", "sqlite3"),
  };

  const newFile = async () => (await databases.create("sqlite")).slice("sqlite:".length);

  async function startDexAs(contestant: Contestant, storage: "memory" | "sqlite3"): Promise<Runner> {
    const { server, url } = await startDex({ database: await newFile(), idp, storage });
    return { server, target: { ...blank(contestant), url } };
  }

  async function startYardstick(contestant: Contestant, env: Record<string, string> = {}): Promise<Runner> {
    const { ready, ...server } = await startServer<Partial<Target>>(`yardsticks/${contestant}.ts`, {
      IDP: idp,
      ...env,
    });
    return { server, target: { ...blank(contestant), ...ready } };
  }

  const blank = (contestant: Contestant): Target => ({
    contestant,
    url: "",
    idp,
    storeId: "",
    realmId: "",
    profileId: "",
    keyId: "",
    clientId: "",
    clientSecret: "",
    accessToken: "",
    implicitToken: "",
    customer: { id: "", token: "", email: "", password: "" },
  });

  return {
    async get(contestant, engine) {
      const name = `${contestant} ${engine}`;
      const runner = running.get(name) ?? (await start[contestant](engine));
      running.set(name, runner);
      return runner;
    },
    async stop() {
      for (const { server } of running.values()) await server.stop();
    },
  };
}
