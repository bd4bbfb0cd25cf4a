import type { TemplateChange, TemplateState, TemplateUpdate } from '../../channels/provider.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import type { PublishTemplateEvent } from './events.ts'
import { type OfficialRow, selectOfficial, updateOfficial } from './official-store.ts'
import { storableReport } from './storable-report.ts'
import { lockTemplate, moveDefaults, type ReviewState } from './store.ts'
import { statusAfter, subTypeAfter } from './transitions.ts'

/** Applies the states that providers report to our templates. */
export type TemplateStates = {
  /**
   * Applies reports from webhooks, in their order; those of unknown templates are ignored, and so are repeats: an old
   * report would undo what came after it. Resolves once stored.
   */
  applyReports(connectionId: ConnectionId, updates: readonly TemplateUpdate[]): Promise<void>
  /** Applies a state that was polled: a change found in this way counts as drift. True if there was one. */
  applyPolled(row: OfficialRow, state: TemplateState): Promise<boolean>
}

/** When the provider is asked after a report: a later report may have arrived before it, and is undone until then. */
const CHECK_AFTER_MS = MINUTE_MS

export type TemplateStatesDeps = {
  db: Database
  clock: Pick<Clock, 'now'>
  /** Claims an event of the provider; false where it was claimed before. */
  claimEvent(tx: Db, connectionId: ConnectionId, eventId: string): Promise<boolean>
  publishEvent: PublishTemplateEvent
  /** Called after the commit, so that this node uses the change. */
  applied(accountId: AccountId): void
}

export function createTemplateStates(deps: TemplateStatesDeps): TemplateStates {
  /** Applies the moves of transitions.ts. Locks the row, so that of concurrent reports the second sees the first. */
  async function apply(tx: Db, row: OfficialRow, report: TemplateChange, drift: boolean): Promise<boolean> {
    if (!isChange(row, report)) return false
    const from = await lockTemplate(tx, row)
    // A polled state may be older than a report that came meanwhile.
    if (!from || (drift && (from.status !== row.status || from.subType !== row.subType))) return false
    if (!isChange(from, report)) return false
    const next = stateAfter(from, report)
    const checkByMs = drift ? null : deps.clock.now() + CHECK_AFTER_MS
    await updateOfficial(tx, row, next, report.providerTemplateId, checkByMs)
    if (next.subType !== from.subType) await moveDefaults(tx, row, next.subType)
    await deps.publishEvent(tx, row, next, { from, drift })
    return true
  }

  /** The templates that the report changes; none where it is a repeat. */
  async function applyReport(
    tx: Db,
    connectionId: ConnectionId,
    eventId: string | null,
    report: TemplateChange,
  ): Promise<OfficialRow[]> {
    const rows = await selectOfficial(tx, connectionId, report.name, report.language)
    const concerned = rows.filter(each => concerns(each, report))
    if (concerned.length === 0) return []
    if (eventId !== null && !(await deps.claimEvent(tx, connectionId, eventId))) return []
    const moved: OfficialRow[] = []
    for (const row of concerned) if (await apply(tx, row, report, false)) moved.push(row)
    return moved
  }

  return {
    async applyReports(connectionId, updates) {
      for (const { eventId, state } of updates) {
        const report = storableReport(state)
        const moved = await deps.db.transaction(tx => applyReport(tx, connectionId, eventId, report))
        for (const { accountId } of moved) deps.applied(accountId)
      }
    },
    async applyPolled(row, state) {
      if (!isChange(row, state)) return false
      const moved = await deps.db.transaction(tx => apply(tx, row, state, true))
      if (moved) deps.applied(row.accountId)
      return moved
    },
  }
}

/**
 * Whether a report is about this template. Names are reused after a deletion, and by all accounts in the sandbox, so
 * the provider's ids decide if both are known. Bound templates (`manual`) are matched by name, since the sandbox
 * gives them other ids.
 */
function concerns(row: OfficialRow, { providerTemplateId }: TemplateChange): boolean {
  const known = row.manual ? '' : (row.providerTemplateId ?? '')
  return known === '' || providerTemplateId === '' || known === providerTemplateId
}

function isChange(from: Pick<ReviewState, 'status' | 'subType'>, report: TemplateChange): boolean {
  return statusAfter(from.status, report) !== null || subTypeAfter(from.subType, report) !== null
}

/** The template's state after a report. */
function stateAfter(from: ReviewState, report: TemplateChange): ReviewState {
  const status = statusAfter(from.status, report)
  const subType = subTypeAfter(from.subType, report) ?? from.subType
  if (status === null) return { ...from, subType }
  return { status, subType, reason: status === 'approved' ? null : report.reason }
}
