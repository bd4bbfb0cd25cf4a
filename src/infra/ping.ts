import type { Db } from './db.ts'

/**
 * Resolves if the database answers and accepts writes. Rejects with DatabaseUnavailable if it does not
 * answer, and with another error if it is read-only: a standby, or the old primary after a failover. Every
 * send would fail on that.
 */
export async function ping(db: Db): Promise<void> {
  const { rows } = await db.query<{ readOnly: boolean }>({
    name: 'ping',
    text: `select current_setting('transaction_read_only') = 'on' as "readOnly"`,
  })
  if (rows[0]?.readOnly) throw new Error('the database is read-only')
}
