import type { Db } from './db.ts'

/**
 * Resolves when the database answers and takes writes; rejects with DatabaseUnavailable when it does not answer.
 * A standby, or a server that a failover has left behind, only reads: every send over it would fail.
 */
export async function ping(db: Db): Promise<void> {
  const { rows } = await db.query<{ readOnly: boolean }>({
    name: 'ping',
    text: `select current_setting('transaction_read_only') = 'on' as "readOnly"`,
  })
  if (rows[0]?.readOnly) throw new Error('the database only reads')
}
