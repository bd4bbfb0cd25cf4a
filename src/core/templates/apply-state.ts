import type { TemplateState, TemplateWord } from '../../channels/provider.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import type { TellTemplate } from './events.ts'
import { moveOfficial, type OfficialRow, selectOfficial } from './official-store.ts'
import { storableWord } from './provider-words.ts'
import { lockTemplate, moveDefaults, type Standing } from './store.ts'
import { statusAfter, subTypeAfter } from './transitions.ts'

/** What the provider says of its templates, applied to ours. */
export type TemplateStates = {
  /** Words that came unasked, in their order; of a template that is none of ours they change nothing. Resolves once stored. */
  take(connectionId: ConnectionId, states: readonly TemplateWord[]): Promise<void>
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
  async function apply(row: OfficialRow, word: TemplateWord, drift: boolean): Promise<boolean> {
    if (!moves(row, word)) return false
    const moved = await deps.db.transaction(async tx => {
      const from = await lockTemplate(tx, row)
      // What we asked for may be older than what has come since.
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
 * A name is used again once its template is deleted, and by every account in the sandbox: by its id a word
 * is about this one, where both are known. The sandbox has ids of its own for what is bound to there.
 */
function isAbout(row: OfficialRow, { providerTemplateId }: TemplateWord): boolean {
  const known = row.manual ? '' : (row.providerTemplateId ?? '')
  return known === '' || providerTemplateId === '' || known === providerTemplateId
}

function moves(from: Pick<Standing, 'status' | 'subType'>, word: TemplateWord): boolean {
  return statusAfter(from.status, word) !== null || subTypeAfter(from.subType, word) !== null
}

/** How a template stands after a word. */
function after(from: Standing, word: TemplateWord): Standing {
  const status = statusAfter(from.status, word)
  const subType = subTypeAfter(from.subType, word) ?? from.subType
  if (status === null) return { ...from, subType }
  return { status, subType, reason: status === 'approved' ? null : word.reason }
}
