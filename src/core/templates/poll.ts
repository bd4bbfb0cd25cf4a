import type { TemplateState } from '../../channels/provider.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { type ConnectionId, timeOf } from '../../lib/ids.ts'
import type { TemplateStates } from './apply-state.ts'
import { claimChecks, finishCheck, type OfficialRow, postponeChecks } from './official-store.ts'
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
/** When to poll again after a provider did not answer; doubled each time, up to the longest rest. */
const RETRY_AFTER_MS = MINUTE_MS
const MAX_REST_MS = 15 * MINUTE_MS

/**
 * Polls the state of official templates, where that is due, to find changes that
 * no webhook reported. Safe on any number of nodes. Resolves with how
 * many were due. A provider that does not answer is left alone for a while, with all templates of the
 * connection: asking for each of them every minute would keep up its throttling, and hold up other polls.
 */
export function createTemplatePoll({ db, clock, providerTemplates, states }: TemplatePollDeps) {
  /** Rounds in a row in which a connection's provider did not answer. */
  const silentRounds = new Map<ConnectionId, number>()

  return async function pollTemplates(): Promise<number> {
    const nowMs = clock.now()
    const untilMs = nowMs + CLAIM_LASTS_MS
    const due = await claimChecks(db, nowMs, untilMs, BATCH_SIZE)
    const answered = await Promise.all(due.map(row => pollTemplate(row, untilMs)))
    const heard = new Set(due.filter((_, at) => answered[at]).map(row => row.connectionId))
    for (const connectionId of new Set(due.map(row => row.connectionId))) {
      if (heard.has(connectionId)) silentRounds.delete(connectionId)
      else await restConnection(connectionId)
    }
    return due.length
  }

  async function restConnection(connectionId: ConnectionId): Promise<void> {
    const before = silentRounds.get(connectionId) ?? 0
    silentRounds.set(connectionId, before + 1)
    const restMs = Math.min(RETRY_AFTER_MS * 2 ** before, MAX_REST_MS)
    await postponeChecks(db, connectionId, clock.now() + restMs)
  }

  /** Whether the provider answered. */
  async function pollTemplate(row: OfficialRow, untilMs: number): Promise<boolean> {
    const lookup = await providerTemplates.read(row.connectionId, row.providerName, row.language)
    const nowMs = clock.now()
    if (lookup.kind === 'unanswered') {
      await finishCheck(db, row, untilMs, null, nowMs + RETRY_AFTER_MS)
      return false
    }
    const state = lookup.kind === 'state' ? lookup.state : missingState(row)
    const moved = await states.applyPolled(row, state)
    const status = (moved ? statusAfter(row.status, state) : null) ?? row.status
    await finishCheck(db, row, untilMs, nowMs, nextCheckAt(status, timeOf(row.id), nowMs))
    return true
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
