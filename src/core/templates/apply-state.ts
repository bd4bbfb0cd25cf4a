import type { TemplateState } from '../../channels/provider.ts'
import type { TemplateStatus } from '../../contract/template.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import type { TellTemplate } from './events.ts'
import { moveOfficial, type OfficialRow, selectOfficial } from './official-store.ts'
import { lockTemplate } from './store.ts'
import { statusAfter } from './transitions.ts'

/** What the provider says of its templates, applied to ours. */
export type TemplateStates = {
  /** Words that came unasked, in their order; of a template that is none of ours they change nothing. Resolves once stored. */
  take(connectionId: ConnectionId, states: readonly TemplateState[]): Promise<void>
  /** A word that we asked for: a change that nobody told us of is drift. True when there was one. */
  adopt(row: OfficialRow, state: TemplateState): Promise<boolean>
}

export type TemplateStatesDeps = {
  db: Database
  tell: TellTemplate
  /** This node works by what was committed. */
  applied(accountId: AccountId): void
}

export function createTemplateStates(deps: TemplateStatesDeps): TemplateStates {
  /** Forward alone; of two words at once the one that comes second finds the first applied. */
  async function apply(row: OfficialRow, state: TemplateState, drift: boolean): Promise<boolean> {
    if (nextOf(row.status, state) === null) return false
    const moved = await deps.db.transaction(async tx => {
      const from = await lockTemplate(tx, row)
      // What we asked for may be older than what has come since.
      if (from === null || (drift && from !== row.status)) return false
      const next = nextOf(from, state)
      if (next === null) return false
      const reason = next === 'approved' ? null : state.reason
      await moveOfficial(tx, row, next, reason, state.providerTemplateId)
      await deps.tell(tx, row, next, { from, reason, drift })
      return true
    })
    if (moved) deps.applied(row.accountId)
    return moved
  }

  return {
    async take(connectionId, states) {
      for (const state of states) {
        const rows = await selectOfficial(deps.db, connectionId, state.name, state.language)
        for (const row of rows.filter(each => isAbout(each, state))) await apply(row, state, false)
      }
    },
    adopt: (row, state) => apply(row, state, true),
  }
}

/**
 * A name is used again once its template is deleted, and by every account in the sandbox: by its id a word
 * is about this one, where both are known. The sandbox has ids of its own for what is bound to there.
 */
function isAbout(row: OfficialRow, { providerTemplateId }: TemplateState): boolean {
  const known = row.manual ? '' : (row.providerTemplateId ?? '')
  return known === '' || providerTemplateId === '' || known === providerTemplateId
}

/** The status that a word leads to; null where an official template stays as it is. */
function nextOf(from: TemplateStatus, state: TemplateState): Exclude<TemplateStatus, 'active'> | null {
  const next = statusAfter(from, state)
  return next === 'active' ? null : next
}
