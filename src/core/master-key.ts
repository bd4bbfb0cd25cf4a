import type { Db } from '../infra/db.ts'
import { type Seal, SealBroken } from '../infra/seal.ts'
import { Refusal } from '../lib/refusal.ts'
import { keepFact } from './master-key-store.ts'

const FACT = 'master key'

/**
 * Refuses to start with a master key other than the one that sealed this store:
 * its connections could not be opened, and what was sealed anew could be read by
 * no other node.
 */
export async function checkMasterKey(db: Db, seal: Seal): Promise<void> {
  const sealed = await keepFact(db, FACT, seal.seal(FACT, FACT))
  try {
    seal.open(sealed, FACT)
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error
    throw new Refusal(
      'This store was sealed with another master key: set POSTHORN_MASTER_KEY to it, or bring back the file master-key of the data directory it was made with.',
      { cause: error },
    )
  }
}
