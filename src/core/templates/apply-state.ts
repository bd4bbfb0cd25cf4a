import type { TemplateState } from '../../channels/provider.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import type { TellTemplate } from './events.ts'
import { moveOfficial, type OfficialRow, selectOfficial } from './official-store.ts'
import { statusAfter } from './transitions.ts'

/** What the provider says of its templates, applied to ours. */
export type TemplateStates = {
  /** A word that came unasked; of a template that is none of ours it changes nothing. Resolves once stored. */
  take(connectionId: ConnectionId, state: TemplateState): Promise<void>
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
    const next = statusAfter(row.status, state)
    if (next === null || next === 'active') return false
    const moved = await deps.db.transaction(async tx => {
      const reason = next === 'approved' ? null : state.reason
      if (!(await moveOfficial(tx, row, row.status, next, reason, state.providerTemplateId))) return false
      await deps.tell(tx, row, next, { from: row.status, reason, drift })
      return true
    })
    if (moved) deps.applied(row.accountId)
    return moved
  }

  return {
    async take(connectionId, state) {
      const rows = await selectOfficial(deps.db, connectionId, state.name, state.language)
      for (const row of rows) await apply(row, state, false)
    },
    adopt: (row, state) => apply(row, state, true),
  }
}
