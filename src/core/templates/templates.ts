import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import {
  PLATFORM_SENDER,
  type PlatformTemplateQuery,
  type SmsTemplateCreated,
  type TemplatePreview,
  type TemplatePreviewBody,
  type TemplateQuery,
  type TemplateView,
} from '../../contract/template.ts'
import type { PlatformTemplateCreate, TemplateCreate } from '../../contract/template-create.ts'
import type { Database } from '../../infra/db.ts'
import type { AccountId, ConnectionId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { requireLiveAccess } from '../accounts/rights.ts'
import type { CreateTemplate } from './create.ts'
import type { TemplateMedia } from './header-file.ts'
import { createTemplateList, type TemplateList } from './list.ts'
import type { OfficialConnection, OfficialSenders, TemplateOwner } from './official-connection.ts'
import { previewTemplate } from './preview.ts'
import { type ProviderTemplates, providerUnavailable } from './provider-templates.ts'
import { chosenDefaults } from './snapshot.ts'
import { fileOf, isCodeOnly } from './spec.ts'
import {
  deleteTemplate,
  isTemplateId,
  lockTemplate,
  selectDefaultsFor,
  selectTemplate,
  setDefaultTemplate,
  setTemplateStatus,
  type TemplateRow,
  type ViewedTemplate,
} from './store.ts'
import { isUsable } from './transitions.ts'
import { unknownTemplate, type ViewContext, viewSmsCreated, viewTemplate } from './view.ts'

/**
 * The templates of an account: its own and the platform's. Throws NOT_FOUND for
 * unknown ones, FORBIDDEN if an account would change one of the platform's,
 * and CONFLICT if the state does not allow the operation.
 */
export type Templates = {
  create(owner: TemplateOwner, body: TemplateCreate): Promise<TemplateView | SmsTemplateCreated>
  /** The newest first: a page with `limit` or `cursor`, else all. */
  list(accountId: AccountId, query: TemplateQuery): Promise<TemplateList>
  /** Templates on the platform's official number. */
  listPlatform(accountId: AccountId, query: PlatformTemplateQuery): Promise<TemplateList>
  read(accountId: AccountId, id: string): Promise<TemplateView>
  /**
   * Deletes a template, an official one first at its provider; PROVIDER_UNAVAILABLE changes nothing. FORBIDDEN
   * with a test key for official templates outside the sandbox.
   */
  remove(
    caller: Pick<Caller, 'account' | 'mode' | 'keyPrefix'>,
    id: string,
  ): Promise<{ id: string; deleted: true }>
  /** Deletes a template of the platform, for the operator. */
  removePlatform(id: string): Promise<{ id: string; deleted: true }>
  /** Makes the template the default for sends of its category and sub type that name none. */
  makeDefault(accountId: AccountId, id: string): Promise<TemplateView>
  /** Not for official templates, whose provider decides whether they may be used. Idempotent. */
  enable(accountId: AccountId, id: string): Promise<TemplateView>
  disable(accountId: AccountId, id: string): Promise<TemplateView>
  preview(accountId: AccountId, id: string, body: TemplatePreviewBody): Promise<TemplatePreview>
  /** Creates a template for all accounts, for the operator. */
  createPlatform(body: PlatformTemplateCreate): Promise<TemplateView>
}

export type TemplatesDeps = {
  db: Database
  create: CreateTemplate
  providerTemplates: ProviderTemplates
  senders: OfficialSenders
  media: Pick<TemplateMedia, 'previewUrl' | 'release'>
  /** The connection with this id, for templates; null if it was deleted. */
  findConnection(accountId: AccountId, connectionId: ConnectionId): Promise<OfficialConnection | null>
  /** Called after the commit, so that this node uses the change. */
  applied(accountId: AccountId): void
}

export function createTemplates(deps: TemplatesDeps): Templates {
  const { db } = deps
  const list = createTemplateList({ db, senders: deps.senders, viewContext })

  async function viewContext(accountId: AccountId): Promise<ViewContext> {
    const [senders, defaults] = await Promise.all([
      deps.senders.forAccount(accountId),
      selectDefaultsFor(db, accountId),
    ])
    return {
      defaults: new Set(chosenDefaults(defaults).values()),
      senderOf: (id, onPlatform) => (onPlatform ? senders.platform : (senders.own.get(id) ?? null)),
      previewUrl: deps.media.previewUrl,
    }
  }

  async function view(accountId: AccountId, row: ViewedTemplate): Promise<TemplateView> {
    return viewTemplate(row, await viewContext(accountId))
  }

  async function find(accountId: AccountId, id: string): Promise<TemplateRow> {
    const row = isTemplateId(id) ? await selectTemplate(db, accountId, id) : null
    if (!row) throw unknownTemplate()
    return row
  }

  async function findOwn(accountId: AccountId, id: string): Promise<TemplateRow> {
    const row = await find(accountId, id)
    if (row.accountId !== accountId) {
      throw new Problem('FORBIDDEN', 'The template belongs to the platform: an account cannot change it.')
    }
    return row
  }

  async function setStatus(
    accountId: AccountId,
    id: string,
    to: 'active' | 'disabled',
  ): Promise<TemplateView> {
    const row = await findOwn(accountId, id)
    if (row.official) {
      throw new Problem(
        'CONFLICT',
        `Only the provider enables or disables an official template; this one is ${row.status}.`,
      )
    }
    if (row.status !== to && !(await setTemplateStatus(db, row, to))) throw unknownTemplate()
    deps.applied(accountId)
    return view(accountId, { ...row, status: to })
  }

  /** Whether it is an official template outside the sandbox. Other templates are used in both modes. */
  async function isLive({ accountId, official }: TemplateRow): Promise<boolean> {
    if (official === null) return false
    const connection = await deps.findConnection(accountId, official.connectionId)
    return connection?.sandbox !== true
  }

  async function deleteAtProvider({ accountId, official, spec, language }: TemplateRow): Promise<boolean> {
    // A bound template existed before and stays at the provider.
    if (!official || spec.manual) return true
    // If the connection was deleted, nothing can or need be deleted at the provider.
    if (!(await deps.findConnection(accountId, official.connectionId))) return true
    const { connectionId, providerName: name, providerTemplateId } = official
    return deps.providerTemplates.remove(connectionId, { name, language, providerTemplateId })
  }

  async function removeRow(row: TemplateRow): Promise<{ id: string; deleted: true }> {
    if (!(await deleteAtProvider(row))) {
      throw providerUnavailable('the template could not be deleted there')
    }
    const file = fileOf(row.spec.header)
    const isDeleted = await db.transaction(async tx => {
      // Before the template: a create locks its file and then its name, so that the two cannot deadlock.
      if (file) await deps.media.release(tx, file)
      return deleteTemplate(tx, row)
    })
    if (!isDeleted) throw unknownTemplate()
    deps.applied(row.accountId)
    return { id: row.id, deleted: true }
  }

  return {
    async create(owner, body) {
      const row = await deps.create(owner, body)
      return row.category === 'sms' ? viewSmsCreated(row) : view(owner.accountId, row)
    },
    list,
    listPlatform: (accountId, query) => list(accountId, { ...query, officialSenderId: PLATFORM_SENDER }),
    read: async (accountId, id) => view(accountId, await find(accountId, id)),
    async remove(caller, id) {
      const row = await findOwn(caller.account.id, id)
      requireLiveAccess(caller, { live: await isLive(row) })
      return removeRow(row)
    },
    removePlatform: async id => removeRow(await findOwn(PLATFORM, id)),
    async makeDefault(accountId, id) {
      const found = await find(accountId, id)
      const row = await db.transaction(async tx => {
        // Locked: otherwise a default could refer to a deleted template, and hide the platform's default.
        const current = await lockTemplate(tx, found)
        if (!current) throw unknownTemplate()
        const updated = { ...found, ...current }
        checkDefault(updated)
        await setDefaultTemplate(tx, accountId, updated)
        return updated
      })
      deps.applied(accountId)
      return view(accountId, row)
    },
    enable: (accountId, id) => setStatus(accountId, id, 'active'),
    disable: (accountId, id) => setStatus(accountId, id, 'disabled'),
    preview: async (accountId, id, body) =>
      previewTemplate(await find(accountId, id), body, deps.media.previewUrl),
    async createPlatform({ isDefault, ...body }) {
      const row = await deps.create({ accountId: PLATFORM, mode: 'live' }, body, {
        makeDefault: isDefault ?? false,
      })
      return view(PLATFORM, row)
    },
  }
}

/** A default must be usable, and for codes the code must be its only value. Throws CONFLICT. */
function checkDefault(row: TemplateRow): void {
  if (!isUsable(row.status)) {
    throw new Problem('CONFLICT', `The template is ${row.status}: a default must be approved or active.`)
  }
  if (row.subType === 'otp' && !isCodeOnly(row)) {
    const { places } = row.compiled
    throw new Problem(
      'CONFLICT',
      `A default for codes must have exactly one placeholder, for the code; this template has ${places}.`,
    )
  }
}
