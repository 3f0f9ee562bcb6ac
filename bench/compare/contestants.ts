import { createHttpClient } from "../load/http-client.ts";
import type { Runner } from "../measure/measure.ts";
import type { Places } from "../servers/databases.ts";
import { createStore, envOf, startLatchkey } from "../servers/latchkey.ts";
import { startServer } from "../servers/process.ts";
import { signOnWithBetterAuth } from "../workloads/better-auth.ts";
import type { Contestant, Engine, Target } from "../workloads/workload.ts";
import { DEX, startDex } from "../yardsticks/dex.ts";

/** Starts who takes part when it is first needed, and keeps it for the rest of the run. */
export type Contestants = {
  get(contestant: Contestant, engine: Engine): Promise<Runner>;
  started(): Runner[];
  stop(): Promise<void>;
};

/** Those with a database of their own kind, or none: they run once, beside our SQLite. */
const ONLY_BESIDE_SQLITE: readonly Contestant[] = [
  "hono",
  "argon2",
  "better-auth",
  "oidc-provider",
  "dex-memory",
  "dex-sqlite",
];
const THAT_ARE_DEX: readonly Contestant[] = ["dex-memory", "dex-sqlite"];

export const takesPart = (contestant: Contestant, engine: Engine): boolean =>
  (engine === "sqlite" || !ONLY_BESIDE_SQLITE.includes(contestant)) &&
  (DEX !== undefined || !THAT_ARE_DEX.includes(contestant));

type Options = { places: Places; idp: string; beside?: string | undefined };

export function createContestants({ places, idp, beside }: Options): Contestants {
  const running = new Map<string, Runner>();

  const start: Record<Contestant, (engine: Engine) => Promise<Runner>> = {
    latchkey: async (engine) => startLatchkey({ databaseUrl: await places.newDatabase(engine), idp }),
    before: async (engine) =>
      startLatchkey({
        databaseUrl: await places.newDatabase(engine),
        idp,
        contestant: "before",
        ...(beside !== undefined && { checkout: beside }),
      }),
    async limit(engine) {
      const databaseUrl = await places.newDatabase(engine);
      const { store, application_key: key } = await createStore(envOf(databaseUrl, idp));
      const env = { DATABASE_URL: databaseUrl, STORE: store.id, IDP: idp };
      const { ready, ...server } = await startServer<Partial<Target>>("yardsticks/limit.ts", env);
      const credentials = { clientId: key.client_id, clientSecret: key.client_secret };
      return { server, target: { ...blank("limit"), storeId: store.id, ...credentials, ...ready } };
    },
    hono: () => startYardstick("hono"),
    argon2: () => startYardstick("argon2"),
    async "better-auth"() {
      const runner = await startYardstick("better-auth");
      const client = createHttpClient();
      const token = await signOnWithBetterAuth(client, runner.target, "reader");
      client.close();
      return { ...runner, target: { ...runner.target, customer: { ...runner.target.customer, token } } };
    },
    "oidc-provider": () => startYardstick("oidc-provider"),
    "dex-memory": () => startFromGo("dex-memory", "memory"),
    "dex-sqlite": () => startFromGo("dex-sqlite", "sqlite3"),
  };

  const newFile = async () => (await places.newDatabase("sqlite")).slice("sqlite:".length);

  async function startFromGo(contestant: Contestant, storage: "memory" | "sqlite3"): Promise<Runner> {
    const { server, url } = await startDex({ database: await newFile(), idp, storage });
    return { server, target: { ...blank(contestant), url } };
  }

  async function startYardstick(contestant: Contestant): Promise<Runner> {
    const env = { DATABASE: await newFile(), IDP: idp };
    const { ready, ...server } = await startServer<Partial<Target>>(`yardsticks/${contestant}.ts`, env);
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
      const known = running.get(name);
      if (known) return known;
      const runner = await start[contestant](engine);
      running.set(name, runner);
      return runner;
    },
    started: () => [...running.values()],
    async stop() {
      for (const { server } of running.values()) await server.stop();
    },
  };
}
