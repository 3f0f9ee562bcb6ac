import {
  type Command,
  command,
  commandOn,
  FROM_STORE,
  jsonOption,
  OF_STORE,
  YES_OPTION,
} from "../command.ts";

/** Commands that run the service, inspect it and keep its data. */

export const runCommands: Command[] = [
  command({
    name: "dev",
    does: "Runs everything on this machine: the service with a first store, a practice identity provider, a demo storefront.",
    options: {
      reset: { says: "deletes the database and the files beside it, then starts" },
      yes: { says: "with --reset: does not ask before it deletes a database that `dev` has not made" },
    },
    notes: `Prints their addresses and the store's credentials. Data is kept beside the database (./data unless
LATCHKEY_DATABASE_URL says otherwise). --reset does not work with PostgreSQL; sqlite::memory: keeps nothing.

Ports: PORT for the service (4000), then 4001 for the provider and 4002 for the storefront. A port that is in use
is replaced by a free one, except PORT when you have set it.

Behind a proxy with TLS set PORT and LATCHKEY_PUBLIC_URL, such as https://localhost:8443. The proxy may start later.`,
    load: async () => (await import("../serving/dev.ts")).dev,
  }),
  command({
    name: "serve",
    does: "Runs the service. `serve --help` lists its configuration.",
    options: {
      workers: {
        value: "<n>",
        says: "the number of processes behind one address (PostgreSQL only; 1 to 64, or auto: as many as there are cores)",
        default: "1",
      },
    },
    loadNotes: async () => (await import("../serving/serve-notes.ts")).serveNotes,
    load: async () => (await import("../serving/serve.ts")).serve,
  }),
  command({
    name: "health",
    does: "Checks whether the service on this machine is ready. Exit code 0: ready.",
    options: {
      live: { says: "checks only that the process answers" },
      url: {
        value: "<url>",
        says: "the service's address; without it, HOST and LATCHKEY_OPERATIONS_PORT or PORT",
      },
      ...jsonOption("what the service answers"),
    },
    notes: `For a container's health check: the image needs no other program. Degraded promises, and identity providers that are down or
have just failed, are listed below the result; the exit code stays 0, because the service answers requests.`,
    load: async () => (await import("../remote/health.ts")).health,
  }),
  command({
    name: "migrate",
    does: "Brings the tables of LATCHKEY_DATABASE_URL up to date. `serve` does the same when it starts.",
    options: jsonOption('{"applied": [names of migrations]}'),
    load: async () => (await import("../operator/migrate.ts")).migrateDatabase,
  }),
  command({
    name: "openapi",
    does: "Prints the OpenAPI 3.1 document, with LATCHKEY_PUBLIC_URL as its server.",
    options: {},
    load: async () => (await import("../openapi.ts")).printOpenapi,
  }),
];

export const lookCommands: Command[] = [
  command({
    name: "events verify",
    does: "Verifies a store's log of events from its first kept event to the last.",
    options: {
      ...FROM_STORE,
      head: {
        value: "<jws>",
        says: "the signature that a witness got from GET /v2/events/head; with it the command also detects a log that was rewritten as a whole",
      },
      keys: {
        value: "<file>",
        says: "the key set that the witness kept (/.well-known/jwks.json); without it, the keys of this database",
      },
      ...jsonOption(
        '{"whole": true, "events", "erased", "first_sequence", "last_sequence"} or {"whole": false, "sequence", "what"}',
      ),
    },
    notes: `Exit code 1 with the first sequence that was removed, altered, added or put elsewhere ("what" of --json: removed, altered,
added); that was erased although no erasure of that person follows (blanked); or that was deleted before LATCHKEY_EVENT_DAYS
were over (forgotten_early), or without a proof of its age (beginning_unproven). Set LATCHKEY_EVENT_DAYS to the service's value.
The command refuses a head that is older than the first kept event.`,
    load: async () => (await import("../operator/events.ts")).verify,
  }),
  command({
    name: "events tail",
    does: "Shows the last ten events of a store, then each new event, until you interrupt it.",
    options: {
      ...FROM_STORE,
      after: { value: "<sequence>", says: "begins after this event" },
      once: { says: "ends after the events that exist now" },
      json: { says: "prints one JSON object a line, for programs" },
    },
    load: async () => (await import("../operator/events.ts")).tail,
  }),
  commandOn({
    name: "doctor",
    does: "Examines an identity provider against the nine requirements.",
    argument: { value: "<discovery-url>", says: "the provider's discovery document, or the issuer" },
    options: jsonOption("the report, as POST …/oidc-profiles/{id}/checks answers it"),
    notes: `Reads the discovery document and the keys. LATCHKEY_EGRESS_ALLOW=http://127.0.0.1:9000 allows a provider that is not
public. Exit code 1: a requirement is not met. NODE_EXTRA_CA_CERTS=<file> allows a provider whose certificate comes from
your own authority.`,
    load: async () => (await import("../remote/doctor.ts")).doctor,
  }),
  command({
    name: "prove-limits",
    does: "Floods a store's shared pool and shows that reservations hold.",
    options: {
      ...OF_STORE,
      seconds: { value: "<seconds>", says: "how long to flood", default: "10" },
      url: { value: "<url>", says: "the address of the running service; without it, LATCHKEY_PUBLIC_URL" },
      ...jsonOption('{"proven", "broken": […], "served", "refused_within_a_reservation", …, "provers": […]}'),
    },
    notes: `Makes two attacks at once. One key floods the store's shared pool, while two other keys send no more than they have reserved.
And a stranger floods with the public token of a fourth key, from one address, while visitors at other addresses and the
key's own program send a part of their share. The command counts refused requests. It makes the keys for the proof and deletes
them after it; the next proof deletes the keys of a proof that was killed. The flood takes from the shared pool of the store's
other keys, as a real flood would.

The addresses are 127.0.0.2 and on, so the service must be on this machine, and the machine must be able to send from
them (Linux can, macOS cannot). Where that does not work, the proof has no visitors, and the report says so.

Exit code 1: the service refused a request that it promises to serve.`,
    load: async () => (await import("../remote/prove-limits.ts")).proveLimits,
  }),
];

export const keepCommands: Command[] = [
  command({
    name: "rotate-keys",
    does: "Seals every stored secret again, with the first key of LATCHKEY_MASTER_KEY; with --signing also replaces signing keys.",
    options: {
      signing: {
        says: "also makes the next key that signs customer tokens: published within a minute, used after ten",
      },
      now: { says: "with --signing: removes all earlier signing keys and ends every customer token" },
      ...YES_OPTION,
      ...jsonOption(
        '{"sealed_anew": n, "already_sealed": n, "next_signing_key": id or null}, with --now {"signing_key": id, "ended_customer_tokens": n}',
      ),
    },
    notes: `To change the master key:

  1. let every instance open secrets that the new key has sealed: LATCHKEY_MASTER_KEY=<old>,<new>; restart them all
  2. let every instance seal with the new key: LATCHKEY_MASTER_KEY=<new>,<old>; restart them all
  3. run this command
  4. after an hour, when the access tokens of the old key have expired, remove the old key; restart

The service replaces signing keys every 30 days. --signing --now is for a signing key that may have leaked: a new key signs
at once. The command shows what it ends, and asks before it does so.`,
    load: async () => (await import("../operator/rotate-keys.ts")).rotateKeys,
  }),
  commandOn({
    name: "backup",
    does: "Copies the SQLite database into a new file, while the service runs.",
    argument: { value: "<file>", says: "the new file; must not exist" },
    options: jsonOption('{"backup": path}'),
    notes: `The file holds hashes and sealed secrets: keep it as you keep the database, and LATCHKEY_MASTER_KEY in another place.
On PostgreSQL, use its own tools (pg_dump, or an archive of its log); after a restore run \`latchkey after-restore\`.`,
    load: async () => (await import("../operator/backup.ts")).backup,
  }),
  commandOn({
    name: "restore",
    does: "Replaces the SQLite database with a backup. Keeps the replaced database under another name.",
    argument: { value: "<file>", says: "made by `latchkey backup`" },
    options: {
      "ignore-current": { says: "takes nothing over from the replaced database" },
      ...jsonOption(
        '{"restored": path, "from": path, "kept_as": path or null, "ended": {…}, "carried_over": {…} or null, "may_be_back": {…} or null}',
      ),
    },
    notes: `Refused while a service runs. Ends customer tokens, access tokens, sign-ons under way and rotated-out secrets.

If the replaced database can be read, it decides who may sign in and which receivers get data: deletions and erasures since
the backup stay, and so do secrets, passwords, addresses, roles, and what was disabled. --ignore-current is for a replaced
database that was tampered with, or to get deleted keys back. If the replaced database cannot decide, webhooks stay disabled
until \`latchkey integration enable\`, and the command lists what may be back.`,
    load: async () => (await import("../operator/restore.ts")).restore,
  }),
  command({
    name: "after-restore",
    does: "Ends the tokens and secrets that a backup has brought back. `latchkey restore` does this too.",
    options: {
      replaced: {
        value: "<database-url>",
        says: "the replaced database, if it can still be read: what was deleted, rotated and changed there stays so",
      },
      "rotate-secrets": { says: "gives every key a new secret and shows it; the old secrets end" },
      yes: { says: "with --rotate-secrets: does not ask first" },
      ...jsonOption(
        '{"ended": {…}, "carried_over": {…} or null, "may_be_back": {…} or null, "secrets": […] with --rotate-secrets}',
      ),
    },
    notes: `Run it after you have restored a database, before the service starts. Ends customer tokens, access tokens, sign-ons under
way, rotated-out secrets in their grace period, set-up links, and signing keys; the first use makes a new key.

A restored database does not know what happened after the backup: who was erased or deleted, which secrets were rotated
out, which webhooks and providers were disabled. With --replaced the replaced database decides. Without it webhooks stay disabled
until \`latchkey integration enable\`, and the command lists what may be back; --rotate-secrets gives every key a new secret.`,
    load: async () => (await import("../operator/after-restore.ts")).afterRestore,
  }),
];
