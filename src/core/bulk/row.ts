import type { Caller } from '../../contract/caller.ts'
import { type Detail, Problem } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { DatabaseUnavailable } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import type { ConnectionSnapshot } from '../connections/snapshot.ts'
import type { Prepared } from '../messages/prepare.ts'
import { type ResolveDeps, resolveSend } from '../messages/resolve.ts'
import type { JobId } from './job.ts'
import type { StoredRow } from './row-store.ts'
import { FlawedRow, openRow } from './stored-row.ts'

export type RowDeps = ResolveDeps & {
  /** The schema errors of a body as a single send; null if it is valid. */
  faultsOf(body: unknown): readonly Detail[] | null
  seal: Pick<Seal, 'open'>
  log: { error(fields: object, text: string): void }
}

/**
 * Prepares the message of a stored row, or returns the Problem with which it is refused: the
 * same result as for a single send of the same body.
 */
export async function resolveRow(
  { body }: StoredRow,
  jobId: JobId,
  caller: Caller,
  deps: RowDeps,
): Promise<Prepared | Problem> {
  try {
    const message = openRow(body, jobId, deps.seal)
    const faults = faultsOf(message, deps)
    if (faults) return invalidRow(faults)
    const resolved = await resolveSend(message as SingleSendBody, caller, deps)
    return resolved.kind === 'prepared' ? resolved.prepared : resolved.problem
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    // An internal error fails only this row.
    deps.log.error({ err: error }, 'a bulk row could not be resolved')
    return new Problem('INTERNAL_ERROR', undefined, { cause: error })
  }
}

/**
 * Whether a refused row would be valid if disabled connections were enabled, so that it can wait for
 * that. A disabled sandbox is not waited for (docs/bulk.md).
 */
export async function waitsForConnection(
  refusal: Problem,
  row: StoredRow,
  jobId: JobId,
  caller: Caller,
  deps: RowDeps,
): Promise<boolean> {
  // A missing route is reported as VALIDATION_ERROR, and is not an error of the schema.
  if (refusal.code !== 'VALIDATION_ERROR') return false
  if (faultsOf(openRow(row.body, jobId, deps.seal), deps)) return false
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

function faultsOf(message: unknown, deps: Pick<RowDeps, 'faultsOf'>): readonly Detail[] | null {
  return message instanceof FlawedRow ? [message.flaw] : deps.faultsOf(message)
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

/** The caller for a job's rows: the account as it is now, with the mode of the key that created the job. */
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
