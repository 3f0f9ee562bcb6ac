import { expect, test } from "vitest";
import { readConfig, readDatabaseUrl, readDatabaseUrlOf, variables } from "./config.ts";

const KEY = "A".repeat(43);
const read = (env: Record<string, string> = {}) => readConfig({ LATCHKEY_MASTER_KEY: KEY, ...env });

test("nothing but a master key is needed", () => {
  expect(read()).toEqual({
    host: "127.0.0.1",
    port: 4000,
    operationsPort: undefined,
    publicUrl: "http://localhost:4000",
    databaseUrl: "sqlite:./data/latchkey.db",
    valkeyUrls: [],
    databasePool: 10,
    databaseDirectUrl: undefined,
    masterKeys: [Buffer.alloc(32)],
    allowedOrigins: [],
    trustedProxies: [],
    customerTokenSeconds: 86_400,
    codeSeconds: 60,
    recordDays: 30,
    otlpUrl: undefined,
    eventDays: 90,
    logLevel: "info",
  });
});

test("lifetimes are whole numbers within reason", () => {
  expect(read({ LATCHKEY_CUSTOMER_TOKEN_SECONDS: "3600", LATCHKEY_CODE_SECONDS: "30" })).toMatchObject({
    customerTokenSeconds: 3600,
    codeSeconds: 30,
  });
  for (const bad of ["0", "4", "601", "1.5", "-60", "60s", "1e2"])
    expect(() => read({ LATCHKEY_CODE_SECONDS: bad }), bad).toThrow(
      "LATCHKEY_CODE_SECONDS must be a whole number",
    );
});

test("the pool has at least one connection, and the direct URL must be a PostgreSQL URL", () => {
  expect(read({ LATCHKEY_DATABASE_POOL: "40" }).databasePool).toBe(40);
  for (const bad of ["0", "1001", "-1", "ten"])
    expect(() => read({ LATCHKEY_DATABASE_POOL: bad }), bad).toThrow(
      "LATCHKEY_DATABASE_POOL must be a whole number from 1 to 1000",
    );
  const url = "postgres://latchkey@db.example/latchkey";
  expect(read({ LATCHKEY_DATABASE_DIRECT_URL: url }).databaseDirectUrl).toBe(url);
  expect(() => read({ LATCHKEY_DATABASE_DIRECT_URL: "sqlite:x" })).toThrow("must be postgres://");
});

test("an address of PostgreSQL may leave out the host behind a user, as libpq's do for a socket", () => {
  const url = "postgres://me:hush@/latchkey?host=/run/postgresql";
  const withHost = "postgres://me:hush@localhost/latchkey?host=/run/postgresql";
  expect(read({ LATCHKEY_DATABASE_URL: url }).databaseUrl).toBe(withHost);
  expect(read({ LATCHKEY_DATABASE_DIRECT_URL: url }).databaseDirectUrl).toBe(withHost);
  expect(readDatabaseUrlOf("--replaced", url)).toBe(withHost);
});

test("the public URL follows the port unless it is given, and has no slash at its end", () => {
  expect(read({ PORT: "5000" }).publicUrl).toBe("http://localhost:5000");
  expect(read({ LATCHKEY_PUBLIC_URL: "https://keys.example/a/" }).publicUrl).toBe("https://keys.example/a");
});

test("health and metrics may have a port of their own, which must be another one", () => {
  expect(read({ LATCHKEY_OPERATIONS_PORT: "9090" }).operationsPort).toBe(9090);
  for (const port of ["4000", "0", "x"])
    expect(() => read({ LATCHKEY_OPERATIONS_PORT: port }), port).toThrow("LATCHKEY_OPERATIONS_PORT must be");
});

test("Valkey is one address, or several of a cluster, all with TLS or all without", () => {
  expect(read({ LATCHKEY_VALKEY_URL: "redis://10.0.0.1:6379" }).valkeyUrls).toEqual([
    "redis://10.0.0.1:6379",
  ]);
  expect(read({ LATCHKEY_VALKEY_URL: "rediss://:x@a:1, rediss://:x@b:2" }).valkeyUrls).toHaveLength(2);
  for (const bad of ["valkey.internal", "http://a", "redis://", "redis://a,rediss://b", "redis://s3cret@a:x"])
    expect(() => read({ LATCHKEY_VALKEY_URL: bad }), bad).toThrow("LATCHKEY_VALKEY_URL must be redis://");
  expect(() => read({ LATCHKEY_VALKEY_URL: "redis://:s3cret@" })).not.toThrow("s3cret");
});

test("a collector is named by its address, or by its place for traces", () => {
  for (const given of ["http://127.0.0.1:4318", "http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"])
    expect(read({ LATCHKEY_OTLP_URL: given }).otlpUrl).toBe("http://127.0.0.1:4318/v1/traces");
  const behind = read({ LATCHKEY_OTLP_URL: "https://user:secret@collector.example/otlp" }).otlpUrl;
  expect(behind).toBe("https://user:secret@collector.example/otlp/v1/traces");
});

test("several master keys keep their order", () => {
  const second = Buffer.alloc(32, 1).toString("base64url");
  expect(read({ LATCHKEY_MASTER_KEY: `${second}, ${KEY}` }).masterKeys).toEqual([
    Buffer.alloc(32, 1),
    Buffer.alloc(32),
  ]);
});

test("an empty variable counts as unset", () => {
  expect(read({ PORT: "", HOST: "", LATCHKEY_TRUST_PROXY: "" })).toEqual(read());
});

test.each([
  ["PORT", "0"],
  ["PORT", "65536"],
  ["PORT", "4000x"],
  ["LATCHKEY_PUBLIC_URL", "keys.example"],
  ["LATCHKEY_PUBLIC_URL", "ftp://keys.example"],
  ["LATCHKEY_PUBLIC_URL", "http://keys.example"],
  ["LATCHKEY_PUBLIC_URL", "https://keys.example/?x"],
  ["LATCHKEY_PUBLIC_URL", "https://me:secret@keys.example"],
  ["LATCHKEY_DATABASE_URL", "sqlite:"],
  ["LATCHKEY_DATABASE_URL", "sqlite:file:latchkey.db"],
  ["LATCHKEY_DATABASE_URL", "mysql://x"],
  ["LATCHKEY_MASTER_KEY", "short"],
  ["LATCHKEY_MASTER_KEY", `${KEY},${KEY}A`],
  ["LATCHKEY_TRUST_PROXY", "10.0.0.0/33"],
  ["LATCHKEY_TRUST_PROXY", "fd00::/129"],
  ["LATCHKEY_TRUST_PROXY", "everybody"],
  ["LATCHKEY_EGRESS_ALLOW", "http://127.0.0.1:9000/path"],
  ["LATCHKEY_EGRESS_ALLOW", "127.0.0.1:9000"],
  ["LATCHKEY_EGRESS_ALLOW", "ftp://idp.example"],
  ["LATCHKEY_EGRESS_ALLOW", "=http://127.0.0.1:9000"],
  ["LATCHKEY_EGRESS_ALLOW", "shop=http://127.0.0.1:9000"],
  ["LATCHKEY_EGRESS_ALLOW", "http://127.0.0.1:9000,webhooks=http://127.0.0.1:9001"],
  ["LATCHKEY_OTLP_URL", "collector:4318"],
  ["LATCHKEY_OTLP_URL", "grpc://collector:4317"],
  ["LATCHKEY_OTLP_URL", "http://collector:4318/?x"],
  ["LATCHKEY_LOG_LEVEL", "loud"],
])("%s=%s is refused, and the value is not repeated", (name, value) => {
  const fault = () => read({ [name]: value });
  expect(fault).toThrow(name);
  try {
    fault();
  } catch (error) {
    if (name === "LATCHKEY_MASTER_KEY") expect((error as Error).message).not.toContain(value);
  }
});

test("a stray % in a password is named with its correct spelling, and the password is not shown", () => {
  for (const [name, value] of [
    ["LATCHKEY_DATABASE_URL", "postgres://me:hush%ab@db/latchkey"],
    ["LATCHKEY_DATABASE_DIRECT_URL", "postgres://me:hush%ab@db/latchkey"],
    ["LATCHKEY_VALKEY_URL", "redis://:hush%@cache:6379"],
  ] as const)
    expect(() => read({ [name]: value })).toThrow(
      new RegExp(`${name} has a % that stands for no character: write it as %25(?!.*hush)`, "s"),
    );
  // This one the driver takes as it is.
  expect(read({ LATCHKEY_DATABASE_URL: "postgres://me:100%@db/latchkey" }).databaseUrl).toContain("100%");
});

test("a carriage return at the end does not change the name of the database", () => {
  expect(() => read({ LATCHKEY_DATABASE_URL: "sqlite:./data/latchkey.db\r" })).toThrow(
    "LATCHKEY_DATABASE_URL ends with a blank or a carriage return",
  );
});

test("all faults are reported at once", () => {
  expect(() => readConfig({ PORT: "x", LATCHKEY_PUBLIC_URL: "x", LATCHKEY_LOG_LEVEL: "x" })).toThrow(
    /PORT.*PUBLIC_URL.*MASTER_KEY.*LOG_LEVEL/s,
  );
});

test("a bad port alone is one fault: the public URL that follows it is not blamed", () => {
  expect(() => read({ PORT: "x" })).toThrow(/:\n {2}- PORT [^\n]+$/);
});

test("commands that only touch the database need no master key", () => {
  expect(readDatabaseUrl({ LATCHKEY_DATABASE_URL: "sqlite::memory:" })).toBe("sqlite::memory:");
  expect(() => readDatabaseUrl({ LATCHKEY_DATABASE_URL: "x" })).toThrow("LATCHKEY_DATABASE_URL");
});

test("the help lists every variable that is read", () => {
  const listed = new Set(variables.map(({ name }) => name));
  const asked = new Set<string>();
  const env = new Proxy({} as Record<string, string>, {
    get(_, name) {
      asked.add(String(name));
      return name === "LATCHKEY_MASTER_KEY" ? KEY : undefined;
    },
  });
  readConfig(env);
  expect(listed).toEqual(asked);
});
