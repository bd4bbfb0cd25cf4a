import type { TemplateChange, TemplateState } from '../../channels/provider.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import type { TellTemplate } from './events.ts'
import { moveOfficial, type OfficialRow, selectOfficial } from './official-store.ts'
import { storableWord } from './provider-words.ts'
import { lockTemplate, moveDefaults, type Standing } from './store.ts'
import { statusAfter, subTypeAfter } from './transitions.ts'

/** Applies the states that providers report to our templates. */
export type TemplateStates = {
  /** Applies reports from webhooks, in their order; those of unknown templates are ignored. Resolves once stored. */
  take(connectionId: ConnectionId, states: readonly TemplateChange[]): Promise<void>
  /** Applies a state that was polled: a change found in this way counts as drift. True if there was one. */
  adopt(row: OfficialRow, state: TemplateState): Promise<boolean>
}

export type TemplateStatesDeps = {
  db: Database
  tell: TellTemplate
  /** Called after the commit, so that this node uses the change. */
  applied(accountId: AccountId): void
}

export function createTemplateStates(deps: TemplateStatesDeps): TemplateStates {
  /** Applies the moves of transitions.ts. Locks the row, so that of concurrent reports the second sees the first. */
  async function apply(row: OfficialRow, word: TemplateChange, drift: boolean): Promise<boolean> {
    if (!moves(row, word)) return false
    const moved = await deps.db.transaction(async tx => {
      const from = await lockTemplate(tx, row)
      // A polled state may be older than a report that came meanwhile.
      if (!from || (drift && (from.status !== row.status || from.subType !== row.subType))) return false
      if (!moves(from, word)) return false
      const next = after(from, word)
      await moveOfficial(tx, row, next, word.providerTemplateId)
      if (next.subType !== from.subType) await moveDefaults(tx, row, next.subType)
      await deps.tell(tx, row, next, { from, drift })
      return true
    })
    if (moved) deps.applied(row.accountId)
    return moved
  }

  return {
    async take(connectionId, states) {
      for (const state of states.map(storableWord)) {
        const rows = await selectOfficial(deps.db, connectionId, state.name, state.language)
        for (const row of rows.filter(each => isAbout(each, state))) await apply(row, state, false)
      }
    },
    adopt: (row, state) => apply(row, state, true),
  }
}

/**
 * Whether a report is about this template. Names are reused after a deletion, and by all accounts in the sandbox, so
 * the provider's ids decide if both are known. Bound templates (`manual`) are matched by name, since the sandbox
 * gives them other ids.
 */
function isAbout(row: OfficialRow, { providerTemplateId }: TemplateChange): boolean {
  const known = row.manual ? '' : (row.providerTemplateId ?? '')
  return known === '' || providerTemplateId === '' || known === providerTemplateId
}

function moves(from: Pick<Standing, 'status' | 'subType'>, word: TemplateChange): boolean {
  return statusAfter(from.status, word) !== null || subTypeAfter(from.subType, word) !== null
}

/** The template's state after a report. */
function after(from: Standing, word: TemplateChange): Standing {
  const status = statusAfter(from.status, word)
  const subType = subTypeAfter(from.subType, word) ?? from.subType
  if (status === null) return { ...from, subType }
  return { status, subType, reason: status === 'approved' ? null : word.reason }
}
