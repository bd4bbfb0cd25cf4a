import type { TemplateState } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { TemplateStates } from './apply-state.ts'
import type { Approvers } from './official.ts'
import { claimChecks, finishCheck, type OfficialRow } from './official-store.ts'
import { nextCheckAt, statusAfter } from './transitions.ts'

export type TemplatePollDeps = {
  db: Db
  clock: Clock
  approvers: Approvers
  states: TemplateStates
}

/** Templates per round, polled concurrently. */
const AT_ONCE = 10
/** Longer than any answer takes; after that, another node may poll. */
const CLAIM_LASTS_MS = 60_000
const NOT_FOUND_THERE = 'The provider has no template with this name and language.'
/** When to poll again after a provider did not answer. */
const UNASKED_MS = 60_000

/**
 * Polls the state of official templates, where that is due, to find changes that
 * no webhook reported. Safe on any number of nodes. Resolves with how
 * many were due.
 */
export function createTemplatePoll({ db, clock, approvers, states }: TemplatePollDeps) {
  return async function pollTemplates(): Promise<number> {
    const nowMs = clock.now()
    const due = await claimChecks(db, nowMs, nowMs + CLAIM_LASTS_MS, AT_ONCE)
    await Promise.all(due.map(look))
    return due.length
  }

  async function look(row: OfficialRow): Promise<void> {
    const word = await approvers.read(row.connectionId, row.providerName, row.language)
    const nowMs = clock.now()
    if (word.kind === 'unasked') return finishCheck(db, row, null, nowMs + UNASKED_MS)
    const state = word.kind === 'state' ? word.state : goneState(row)
    const moved = await states.adopt(row, state)
    const status = (moved ? statusAfter(row.status, state) : null) ?? row.status
    await finishCheck(db, row, nowMs, nextCheckAt(status, timeOf(row.id), nowMs))
  }
}

/** The state of a template that the provider does not know: disabled, or still pending if it was. */
function goneState(row: OfficialRow): TemplateState {
  return {
    providerTemplateId: row.providerTemplateId ?? '',
    name: row.providerName,
    language: row.language,
    status: row.status === 'pending' ? 'pending' : 'disabled',
    reason: NOT_FOUND_THERE,
  }
}
