import type { TemplateState } from '../../channels/provider.ts'
import type { Database } from '../../infra/db.ts'
import type { ConnectionId } from '../../lib/ids.ts'
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

export function createTemplateStates(deps: { db: Database; tell: TellTemplate }): TemplateStates {
  /** Forward alone; of two words at once the one that comes second finds the first applied. */
  function apply(row: OfficialRow, state: TemplateState, drift: boolean): Promise<boolean> {
    const next = statusAfter(row.status, state)
    if (next === null || next === 'active') return Promise.resolve(false)
    return deps.db.transaction(async tx => {
      const reason = next === 'approved' ? null : state.reason
      if (!(await moveOfficial(tx, row, row.status, next, reason, state.providerTemplateId))) return false
      await deps.tell(tx, row, next, { from: row.status, reason, drift })
      return true
    })
  }

  return {
    async take(connectionId, state) {
      const rows = await selectOfficial(deps.db, connectionId, state.name, state.language)
      for (const row of rows) await apply(row, state, false)
    },
    adopt: (row, state) => apply(row, state, true),
  }
}
