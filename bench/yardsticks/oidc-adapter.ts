import { DatabaseSync } from "node:sqlite";

/** SQLite storage for oidc-provider in the form of its example adapters; its storage in memory is for trials only. */
type Payload = { grantId?: string; userCode?: string; uid?: string } & Record<string, unknown>;
type PayloadRow = { payload: string; consumed_at: number | null };

export function openAdapter(path: string) {
  const file = new DatabaseSync(path);
  file.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table payloads (id text primary key, payload text not null, grant_id text, user_code text, uid text,
      expires_at integer, consumed_at integer) without rowid;
    create index payloads_by_grant on payloads (grant_id);
    create index payloads_by_user_code on payloads (user_code);
    create index payloads_by_uid on payloads (uid);
    create table accounts (id text primary key, claims text not null) without rowid;`);
  const upsert = file.prepare(
    "insert into payloads values (?, ?, ?, ?, ?, ?, null) on conflict (id) do update set payload = excluded.payload, expires_at = excluded.expires_at",
  );
  const alive = "(expires_at is null or expires_at > unixepoch())";
  const find = file.prepare(`select payload, consumed_at from payloads where id = ? and ${alive}`);
  const findByUid = file.prepare(`select payload, consumed_at from payloads where uid = ? and ${alive}`);
  const findByUserCode = file.prepare(
    `select payload, consumed_at from payloads where user_code = ? and ${alive}`,
  );
  const consume = file.prepare("update payloads set consumed_at = unixepoch() where id = ?");
  const destroy = file.prepare("delete from payloads where id = ?");
  const revoke = file.prepare("delete from payloads where grant_id = ?");
  const insertAccount = file.prepare("insert into accounts values (?, ?) on conflict (id) do nothing");
  const readAccount = file.prepare("select claims from accounts where id = ?");

  const toPayload = (row: unknown): Payload | undefined => {
    if (!row) return undefined;
    const { payload, consumed_at } = row as PayloadRow;
    return { ...JSON.parse(payload), ...(consumed_at !== null && { consumed: consumed_at }) };
  };
  const adapter = (model: string) => ({
    async upsert(id: string, payload: Payload, expiresIn?: number) {
      const expiresAt = expiresIn ? Math.floor(Date.now() / 1000) + expiresIn : null;
      const { grantId = null, userCode = null, uid = null } = payload;
      upsert.run(`${model}:${id}`, JSON.stringify(payload), grantId, userCode, uid, expiresAt);
    },
    find: async (id: string) => toPayload(find.get(`${model}:${id}`)),
    findByUid: async (uid: string) => toPayload(findByUid.get(uid)),
    findByUserCode: async (userCode: string) => toPayload(findByUserCode.get(userCode)),
    consume: async (id: string) => void consume.run(`${model}:${id}`),
    destroy: async (id: string) => void destroy.run(`${model}:${id}`),
    revokeByGrantId: async (grantId: string) => void revoke.run(grantId),
  });
  return {
    adapter,
    saveAccount: (id: string, claims: object) => void insertAccount.run(id, JSON.stringify(claims)),
    findAccount(id: string) {
      const row = readAccount.get(id) as { claims: string } | undefined;
      return row && { accountId: id, claims: () => ({ sub: id, ...JSON.parse(row.claims) }) };
    },
  };
}
