import type { Db } from './db.ts'

/** Resolves when the database answers; rejects with DatabaseUnavailable when it does not. */
export async function ping(db: Db): Promise<void> {
  await db.query({ name: 'ping', text: 'select 1' })
}
