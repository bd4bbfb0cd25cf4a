import { readConfig } from '../config.ts'
import { print } from './print.ts'
import type { Run } from './run.ts'
import { openStoreOnce } from './store.ts'

/** `posthorn migrate`: migrates the database before any node of a new version serves. */
export const run: Run = async () => {
  const config = readConfig()
  const store = await openStoreOnce(config)
  await store.stop()
  const { applied } = store
  print(applied.length === 0 ? 'The database is up to date.\n' : `Applied ${applied.join(', ')}.\n`)
  return 0
}
