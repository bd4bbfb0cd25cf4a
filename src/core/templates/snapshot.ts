import type { TemplateCategory, TemplateSubType } from '../../contract/template.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import { type AccountCacheDeps, createAccountCache } from '../accounts/account-cache.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { type ValueButton, valueButtonsOf } from './spec.ts'
import {
  type DefaultRow,
  selectDefaultsFor,
  selectTemplatesFor,
  type TemplateId,
  type TemplateRow,
} from './store.ts'
import { isUsable } from './transitions.ts'

/** A template, for sends. */
export type TemplateSnapshot = TemplateRow & { valueButtons: readonly ValueButton[] }

/** The templates that an account may use: its own and the platform's. */
export type AccountTemplatesSnapshot = {
  byId: ReadonlyMap<string, TemplateSnapshot>
  /** The templates of a name: the account's own first, then the platform's; each with the newest first. */
  byName: ReadonlyMap<string, readonly TemplateSnapshot[]>
  /** The account's default, else the platform's, of those that can be used; null if there is neither. */
  defaultOf(category: TemplateCategory, subType: TemplateSubType): TemplateSnapshot | null
}

export type TemplateSnapshots = {
  /** Synchronous when cached. */
  forAccount(accountId: AccountId): AccountTemplatesSnapshot | Promise<AccountTemplatesSnapshot>
}

const TABLES = ['templates', 'template_defaults']

export function createTemplateSnapshots({ db, ...deps }: AccountCacheDeps & { db: Db }): TemplateSnapshots {
  return {
    forAccount: createAccountCache(deps, TABLES, async accountId => {
      const [rows, defaults] = await Promise.all([
        selectTemplatesFor(db, accountId),
        selectDefaultsFor(db, accountId),
      ])
      return assemble(rows, defaults)
    }),
  }
}

function assemble(rows: readonly TemplateRow[], defaults: readonly DefaultRow[]): AccountTemplatesSnapshot {
  const ownFirst = rows
    .toSorted((a, b) => rank(a) - rank(b))
    .map(row => ({ ...row, valueButtons: row.spec.otp ? [] : valueButtonsOf(row.spec) }))
  const byId = new Map(ownFirst.map(row => [row.id as string, row]))
  const chosen = chosenDefaults(defaults)
  return {
    byId,
    byName: Map.groupBy(ownFirst, row => row.name),
    defaultOf(category, subType) {
      const template = byId.get(chosen.get(`${category}/${subType}`) ?? '')
      return template && isUsable(template.status) ? template : null
    },
  }
}

/**
 * The default of each category and sub type, as sends use it and views show it: the account's own, else the
 * platform's; but one that was disabled later does not hide one that can be used.
 */
export function chosenDefaults(defaults: readonly DefaultRow[]): Map<string, TemplateId> {
  const bestLast = defaults.toSorted((a, b) => defaultRank(b) - defaultRank(a))
  return new Map(bestLast.map(each => [`${each.category}/${each.subType}`, each.templateId]))
}

function defaultRank(row: DefaultRow): number {
  return rank(row) + (isUsable(row.status) ? 0 : 2)
}

function rank({ accountId }: { accountId: AccountId }): number {
  return accountId === PLATFORM ? 1 : 0
}
