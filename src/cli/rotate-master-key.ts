import { readConfig } from '../config.ts'
import { checkMasterKey } from '../core/master-key.ts'
import { rotateMasterKey } from '../core/rotation.ts'
import { createDatabase } from '../infra/db.ts'
import { createSeal } from '../infra/seal.ts'
import { ensureSecrets } from '../infra/secrets.ts'
import { createRandom } from '../lib/random.ts'
import { misuse } from '../lib/refusal.ts'
import { print } from './print.ts'
import type { Run } from './run.ts'
import { table } from './show.ts'
import { openStoreOnce } from './store.ts'

/**
 * `posthorn rotate-master-key`: re-encrypts with POSTHORN_MASTER_KEY everything that
 * POSTHORN_MASTER_KEY_PREVIOUS encrypted.
 */
export const run: Run = async () => {
  const config = readConfig()
  if (config.masterKeyPrevious === undefined) {
    throw misuse(
      'Set POSTHORN_MASTER_KEY to the new key and POSTHORN_MASTER_KEY_PREVIOUS to the one that it replaces.',
    )
  }
  const random = createRandom()
  const seal = createSeal(ensureSecrets(config, random).masterKey, random, config.masterKeyPrevious)
  const store = await openStoreOnce(config)
  const db = createDatabase({ connectionString: store.url, poolSize: 1 })
  let report: string
  try {
    await checkMasterKey(db, seal)
    const all = await rotateMasterKey(db, seal)
    const rows = all.map(({ what, resealed, unreadable }) => [what, resealed, unreadable])
    report = table(['secrets', 're-encrypted', 'opened by neither key'], rows)
  } finally {
    await db.close()
    await store.stop()
  }
  // After the database has stopped: a report that cannot be written ends the process.
  print(`${report}\n\nThe previous key is not needed any more: remove POSTHORN_MASTER_KEY_PREVIOUS.\n`)
  return 0
}
