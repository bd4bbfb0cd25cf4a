import type { Db } from '../infra/db.ts'
import { type MasterSeal, SealBroken } from '../infra/seal.ts'
import { Refusal } from '../lib/refusal.ts'
import { storeFact } from './master-key-store.ts'

const FACT = 'master key'
const HASH_KEY = 'hash key'

/**
 * Refuses to start with a master key that cannot open what this database has sealed:
 * connections could not be opened, and other nodes could not read what this node seals.
 * Then sets the hash key, which is derived from the first master key and stored sealed, so that
 * hashes stay valid when the master key is replaced.
 */
export async function checkMasterKey(db: Db, seal: MasterSeal): Promise<void> {
  const sealed = await storeFact(db, FACT, seal.seal(FACT, FACT))
  try {
    seal.open(sealed, FACT)
    const hashKey = await storeFact(db, HASH_KEY, seal.seal(seal.hashKeyOf(sealed), HASH_KEY))
    seal.hashBy(seal.open(hashKey, HASH_KEY))
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    throw new Refusal(
      'The secrets of this database are sealed with another master key: set POSTHORN_MASTER_KEY to that key (or POSTHORN_MASTER_KEY_PREVIOUS, while it is being replaced), or restore the file master-key of the data directory that the database was created with.',
      { cause: error },
    )
  }
}
