import type { TemplateState } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import type { TemplateStates } from './apply-state.ts'
import { claimChecks, finishCheck, type OfficialRow } from './official-store.ts'
import type { ProviderTemplates } from './provider-templates.ts'
import { nextCheckAt, statusAfter } from './transitions.ts'

export type TemplatePollDeps = {
  db: Db
  clock: Clock
  providerTemplates: ProviderTemplates
  states: TemplateStates
}

/** Templates per round, polled concurrently. */
const BATCH_SIZE = 10
/** Longer than any answer takes, and than until the check that follows a report; after that, another node may poll. */
const CLAIM_LASTS_MS = 120_000
const NOT_FOUND_REASON = 'The provider has no template with this name and language.'
/** When to poll again after a provider did not answer. */
const RETRY_AFTER_MS = 60_000

/**
 * Polls the state of official templates, where that is due, to find changes that
 * no webhook reported. Safe on any number of nodes. Resolves with how
 * many were due.
 */
export function createTemplatePoll({ db, clock, providerTemplates, states }: TemplatePollDeps) {
  return async function pollTemplates(): Promise<number> {
    const nowMs = clock.now()
    const untilMs = nowMs + CLAIM_LASTS_MS
    const due = await claimChecks(db, nowMs, untilMs, BATCH_SIZE)
    await Promise.all(due.map(row => pollTemplate(row, untilMs)))
    return due.length
  }

  async function pollTemplate(row: OfficialRow, untilMs: number): Promise<void> {
    const lookup = await providerTemplates.read(row.connectionId, row.providerName, row.language)
    const nowMs = clock.now()
    if (lookup.kind === 'unanswered') return finishCheck(db, row, untilMs, null, nowMs + RETRY_AFTER_MS)
    const state = lookup.kind === 'state' ? lookup.state : missingState(row)
    const moved = await states.applyPolled(row, state)
    const status = (moved ? statusAfter(row.status, state) : null) ?? row.status
    await finishCheck(db, row, untilMs, nowMs, nextCheckAt(status, timeOf(row.id), nowMs))
  }
}

/** The state of a template that the provider does not know: disabled, or still pending if it was. */
function missingState(row: OfficialRow): TemplateState {
  return {
    providerTemplateId: row.providerTemplateId ?? '',
    name: row.providerName,
    language: row.language,
    status: row.status === 'pending' ? 'pending' : 'disabled',
    reason: NOT_FOUND_REASON,
  }
}
