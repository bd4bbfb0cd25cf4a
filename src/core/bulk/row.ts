import type { Caller } from '../../contract/caller.ts'
import { type Detail, Problem } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { DatabaseUnavailable } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import type { Prepared } from '../messages/prepare.ts'
import { type ResolveDeps, resolve } from '../messages/resolve.ts'
import type { JobId } from './job.ts'
import type { StoredRow } from './row-store.ts'
import { openRow } from './secret-row.ts'

export type RowDeps = ResolveDeps & {
  /** What does not fit a single send's schema; null where all of it does. */
  faultsOf(body: unknown): readonly Detail[] | null
  seal: Pick<Seal, 'open'>
  log: { error(fields: object, text: string): void }
}

/**
 * From a stored row to a message that is ready to be accepted, or to its refusal:
 * what a single send of the same body comes to, and nothing else.
 */
export async function resolveRow(
  { body }: StoredRow,
  jobId: JobId,
  caller: Caller,
  deps: RowDeps,
): Promise<Prepared | Problem> {
  try {
    const message = openRow(body, jobId, deps.seal)
    const faults = deps.faultsOf(message)
    if (faults) return invalidRow(faults)
    const resolved = await resolve(message as SingleSendBody, caller, deps)
    return resolved.kind === 'prepared' ? resolved.prepared : resolved.problem
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    // A fault of ours fails the one row that brought it to light; the others go on.
    deps.log.error({ err: error }, 'a bulk row could not be resolved')
    return new Problem('INTERNAL_ERROR', undefined, { cause: error })
  }
}

/**
 * Whether nothing is wrong with a refused row but that the connections which could carry it are switched
 * off. A sandbox that is switched off is not waited for (docs/bulk.md).
 */
export async function waitsForConnection(
  refusal: Problem,
  row: StoredRow,
  jobId: JobId,
  caller: Caller,
  deps: RowDeps,
): Promise<boolean> {
  // That a row has no way to go is a fault of this kind, and none of how it is written.
  if (refusal.code !== 'VALIDATION_ERROR') return false
  if (deps.faultsOf(openRow(row.body, jobId, deps.seal))) return false
  const world = await deps.world(caller)
  if (world.connections.every(isOnOrSandbox)) return false
  const switchedOn: RowDeps = {
    ...deps,
    async world(...asked) {
      const each = await deps.world(...asked)
      return { ...each, connections: each.connections.map(switchOn) }
    },
  }
  return !((await resolveRow(row, jobId, caller, switchedOn)) instanceof Problem)
}

function isOnOrSandbox({ enabled, provider }: ConnectionSnapshot): boolean {
  return enabled || provider === SANDBOX
}

function switchOn(connection: ConnectionSnapshot): ConnectionSnapshot {
  return isOnOrSandbox(connection) ? connection : { ...connection, enabled: true }
}

function invalidRow(faults: readonly Detail[]): Problem {
  const text = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
  return new Problem('VALIDATION_ERROR', text, { details: faults })
}

/** Whoever sent a job, as far as its rows depend on it: the account as it is now, the key's mode as it was. */
export function rowCaller(account: Caller['account'], live: boolean, keyId: Caller['keyId']): Caller {
  return {
    keyId,
    keyName: '',
    keyPrefix: '',
    keyExpiresAtMs: null,
    mode: live ? 'live' : 'test',
    role: 'owner',
    permissions: SENDS,
    account,
  }
}

const SENDS: Caller['permissions'] = new Set(['messages:create'] as const)
