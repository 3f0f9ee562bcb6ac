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
      reset: { says: "begins anew: deletes the database and what is kept beside it" },
      yes: { says: "with --reset: does not ask about a database that `dev` has not made" },
    },
    notes: `Prints their addresses and the store's credentials. Data is kept beside the database (./data unless
LATCHKEY_DATABASE_URL says otherwise). A PostgreSQL is not reset; sqlite::memory: keeps nothing.

Ports: PORT for the service (4000), then 4001 for the provider and 4002 for the storefront. One that is taken is replaced
by a free one, except PORT when you have set it.

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
    does: "Asks the service on this machine whether it is ready. Exit code 0: it is.",
    options: {
      live: { says: "asks only whether the process answers" },
      url: {
        value: "<url>",
        says: "the service's address; unless given, HOST and LATCHKEY_OPERATIONS_PORT or PORT",
      },
      ...jsonOption("what the service answers"),
    },
    notes: `For a container's health check: it needs no other program. What does not hold in full, and identity providers that are not
well, are said below; the exit code stays 0, because requests are served.`,
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
    does: "Walks a store's log of events and says whether it is whole.",
    options: {
      ...FROM_STORE,
      head: {
        value: "<jws>",
        says: "the signature that GET /v2/events/head gave a witness: with it, a log that was rewritten as a whole is detected, too",
      },
      keys: {
        value: "<file>",
        says: "the key set that the witness kept (/.well-known/jwks.json); unless given, the keys of this database",
      },
      ...jsonOption(
        '{"whole": true, "events", "erased", "first_sequence", "last_sequence"} or {"whole": false, "sequence", "what"}',
      ),
    },
    notes: `Exit code 1 with the first sequence that was removed, altered, added or put elsewhere ("what" of --json: removed, altered,
added); that is blank although no erasure of that person follows (blanked); or that was forgotten before LATCHKEY_EVENT_DAYS
were over (forgotten_early), or without a proof of its age (beginning_unproven). Set LATCHKEY_EVENT_DAYS as the service has it. A
head that is older than what is kept is refused.`,
    load: async () => (await import("../operator/events.ts")).verify,
  }),
  command({
    name: "events tail",
    does: "Shows the last ten events of a store, and then each as it comes, until it is interrupted.",
    options: {
      ...FROM_STORE,
      after: { value: "<sequence>", says: "begins behind this one" },
      once: { says: "ends after those that are there" },
      json: { says: "prints one JSON object a line, for programs" },
    },
    load: async () => (await import("../operator/events.ts")).tail,
  }),
  commandOn({
    name: "doctor",
    does: "Examines an identity provider against the nine requirements.",
    argument: { value: "<discovery-url>", says: "its discovery document, or the issuer's own address" },
    options: jsonOption("the report, as POST …/oidc-profiles/{id}/checks answers it"),
    notes: `Reads the discovery document and the keys. LATCHKEY_EGRESS_ALLOW=http://127.0.0.1:9000 lets it look at one that is not
public. Exit code 1: a requirement is missed. NODE_EXTRA_CA_CERTS=<file> lets it look at one whose certificate
comes from an authority of your own.`,
    load: async () => (await import("../remote/doctor.ts")).doctor,
  }),
  command({
    name: "prove-limits",
    does: "Floods a store's shared pool and shows that reservations hold.",
    options: {
      ...OF_STORE,
      seconds: { value: "<seconds>", says: "how long to flood", default: "10" },
      url: { value: "<url>", says: "the running service; unless given, LATCHKEY_PUBLIC_URL" },
      ...jsonOption('{"proven", "broken": […], "served", "refused_within_a_reservation", …, "provers": […]}'),
    },
    notes: `Two attacks at once. One key floods the store's shared pool, while two others ask for no more than they have reserved.
And a stranger floods with the public token of a fourth key, from one address, while visitors at other addresses and the
key's own program ask for a part of what is theirs. Counts what is refused. The keys are made for the proof and deleted
after it, those of a proof that was killed by the next one; the store's other keys feel the flood on the shared pool, as
they would a real one.

The addresses are 127.0.0.2 and on, so the service must be on this machine, and the machine must be able to send from
them (Linux can, macOS cannot). Where that does not work, the visitors are left out, and the report says so.

Exit code 1: something was refused that is promised.`,
    load: async () => (await import("../remote/prove-limits.ts")).proveLimits,
  }),
];

export const keepCommands: Command[] = [
  command({
    name: "rotate-keys",
    does: "Seals every stored secret again, with the first key of LATCHKEY_MASTER_KEY; with --signing also replaces signing keys.",
    options: {
      signing: {
        says: "also makes the next key that customer tokens are signed with: published within a minute, used in ten",
      },
      now: { says: "with --signing: removes all signing keys of before and ends every customer token" },
      ...YES_OPTION,
      ...jsonOption(
        '{"sealed_anew": n, "already_sealed": n, "next_signing_key": id or null}, with --now {"signing_key": id, "ended_customer_tokens": n}',
      ),
    },
    notes: `To change the master key:

  1. let every instance open what the new key has sealed: LATCHKEY_MASTER_KEY=<old>,<new>; restart them all
  2. let them seal with it: LATCHKEY_MASTER_KEY=<new>,<old>; restart them all
  3. run this
  4. after an hour, when the access tokens of the old key have expired, take the old one away; restart

Signing keys are replaced by themselves every 30 days. --signing --now is for a key that somebody else may have: a new one
signs at once. It says what it ends, and asks.`,
    load: async () => (await import("../operator/rotate-keys.ts")).rotateKeys,
  }),
  commandOn({
    name: "backup",
    does: "Copies the SQLite database into a new file, as it is at this moment, while the service runs.",
    argument: { value: "<file>", says: "must not be there yet" },
    options: jsonOption('{"backup": path}'),
    notes: `The file holds hashes and sealed secrets: keep it as you keep the database, and LATCHKEY_MASTER_KEY in another place.
On PostgreSQL, use its own tools (pg_dump, or an archive of its log); after a restore run \`latchkey after-restore\`.`,
    load: async () => (await import("../operator/backup.ts")).backup,
  }),
  commandOn({
    name: "restore",
    does: "Replaces the SQLite database by a backup. The replaced one is kept under another name.",
    argument: { value: "<file>", says: "made by `latchkey backup`" },
    options: {
      "ignore-current": { says: "takes nothing from the database that is replaced" },
      ...jsonOption(
        '{"restored": path, "from": path, "kept_as": path or null, "ended": {…}, "carried_over": {…} or null, "may_be_back": {…} or null}',
      ),
    },
    notes: `Refused while a service runs. Customer tokens, access tokens, sign-ons under way and rotated-out secrets from before are
dead after that.

The database that is replaced decides, if it can be read, who may come in and who is sent data: deletions and erasures since
the backup stay, and so do secrets, passwords, addresses, roles, and what was disabled. --ignore-current is for a database
that was tampered with, or keys to be had back. Where nothing is known, webhooks stay disabled until
\`latchkey integration enable\`, and the command lists what may be back.`,
    load: async () => (await import("../operator/restore.ts")).restore,
  }),
  command({
    name: "after-restore",
    does: "Ends the tokens and secrets that a backup has brought back. `latchkey restore` does it by itself.",
    options: {
      replaced: {
        value: "<database-url>",
        says: "the database of before, if it can still be read: what was deleted, rotated and changed there stays so",
      },
      "rotate-secrets": { says: "gives every key a new secret, shows them, and the old ones no longer work" },
      yes: { says: "with --rotate-secrets: does not ask" },
      ...jsonOption(
        '{"ended": {…}, "carried_over": {…} or null, "may_be_back": {…} or null, "secrets": […] with --rotate-secrets}',
      ),
    },
    notes: `To be run after a database was restored, before the service starts. Ends customer tokens, access tokens, sign-ons under
way, secrets that had been rotated out and were in their grace, and signing keys; the first use makes a new one.

A restored database does not know what happened after the backup: who was erased or deleted since, which secrets were rotated
out, which webhooks and providers disabled. With --replaced the database of before decides. Without it webhooks stay disabled
until \`latchkey integration enable\`, and the command lists what may be back; --rotate-secrets gives every key a new secret.`,
    load: async () => (await import("../operator/after-restore.ts")).afterRestore,
  }),
];
