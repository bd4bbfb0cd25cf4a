import type { Caller } from '../../contract/caller.ts'
import { DEFAULT_LIMIT, pageOf, readIdCursor, writeCursor } from '../../contract/cursor.ts'
import { Problem } from '../../contract/errors.ts'
import {
  PLATFORM_SENDER,
  type PlatformTemplateQuery,
  type SmsTemplateCreated,
  TEMPLATE_STATUSES,
  type TemplatePreview,
  type TemplatePreviewBody,
  type TemplateQuery,
  type TemplateView,
} from '../../contract/template.ts'
import type { PlatformTemplateCreate, TemplateCreate } from '../../contract/template-create.ts'
import type { Database } from '../../infra/db.ts'
import { type AccountId, type ConnectionId, isId } from '../../lib/ids.ts'
import { requireReach } from '../accounts/holding.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { CreateTemplate } from './create.ts'
import type { TemplateMedia } from './header-file.ts'
import type { AccountSenders, Line, OfficialSenders, TemplateOwner } from './lines.ts'
import { type Approvers, approverUnavailable } from './official.ts'
import { previewTemplate } from './preview.ts'
import { chosenDefaults } from './snapshot.ts'
import { saysCodeAlone } from './spec.ts'
import {
  deleteTemplate,
  isTemplateId,
  listTemplates,
  lockTemplate,
  selectDefaultsFor,
  selectTemplate,
  setDefaultTemplate,
  type TemplateFilter,
  type TemplateRow,
  turnTemplate,
} from './store.ts'
import { isUsable } from './transitions.ts'
import { unknownTemplate, type ViewContext, viewSmsCreated, viewTemplate } from './view.ts'

type List = { data: TemplateView[]; nextCursor?: string | null }

/**
 * The templates of an account, as its requests see them: its own and the
 * platform's. What is not there is NOT_FOUND; what the platform made is not an
 * account's to change (FORBIDDEN); what the state forbids is CONFLICT.
 */
export type Templates = {
  create(owner: TemplateOwner, body: TemplateCreate): Promise<TemplateView | SmsTemplateCreated>
  /** All of them without `limit`, a page with it; the newest first. */
  list(accountId: AccountId, query: TemplateQuery): Promise<List>
  /** Those on the platform's own official number. */
  listPlatform(accountId: AccountId, query: PlatformTemplateQuery): Promise<List>
  read(accountId: AccountId, id: string): Promise<TemplateView>
  /**
   * An official one is taken away at its provider first; PROVIDER_UNAVAILABLE leaves it as it is. FORBIDDEN
   * for a test key, where that is no sandbox.
   */
  remove(
    caller: Pick<Caller, 'account' | 'mode' | 'keyPrefix'>,
    id: string,
  ): Promise<{ id: string; deleted: true }>
  /** The same by the operator, of one that is everybody's. */
  removePlatform(id: string): Promise<{ id: string; deleted: true }>
  /** Used from here on where a send of its category and sub type names no template. */
  makeDefault(accountId: AccountId, id: string): Promise<TemplateView>
  /** Local ones alone: of official ones the provider says whether they may be used. Again is no error. */
  enable(accountId: AccountId, id: string): Promise<TemplateView>
  disable(accountId: AccountId, id: string): Promise<TemplateView>
  preview(accountId: AccountId, id: string, body: TemplatePreviewBody): Promise<TemplatePreview>
  /** By the operator, for every account. */
  createPlatform(body: PlatformTemplateCreate): Promise<TemplateView>
}

export type TemplatesDeps = {
  db: Database
  create: CreateTemplate
  approvers: Approvers
  senders: OfficialSenders
  media: Pick<TemplateMedia, 'previewUrl'>
  /** Where what an account had put before a connection stands; null for a connection that is gone. */
  findLine(accountId: AccountId, connectionId: ConnectionId): Promise<Line | null>
  /** This node works by what was committed. */
  applied(accountId: AccountId): void
}

const USABLE = TEMPLATE_STATUSES.filter(isUsable)

export function createTemplates(deps: TemplatesDeps): Templates {
  const { db } = deps

  async function viewAll(accountId: AccountId, rows: readonly TemplateRow[]): Promise<TemplateView[]> {
    const [senders, defaults] = await Promise.all([
      deps.senders.forAccount(accountId),
      selectDefaultsFor(db, accountId),
    ])
    const context: ViewContext = {
      defaults: new Set(chosenDefaults(defaults).values()),
      senderOf: (id, onPlatform) => (onPlatform ? senders.platform : (senders.own.get(id) ?? null)),
      previewUrl: deps.media.previewUrl,
    }
    return rows.map(row => viewTemplate(row, context))
  }

  async function view(accountId: AccountId, row: TemplateRow): Promise<TemplateView> {
    return (await viewAll(accountId, [row]))[0]!
  }

  async function find(accountId: AccountId, id: string): Promise<TemplateRow> {
    const row = isTemplateId(id) ? await selectTemplate(db, accountId, id) : null
    if (!row) throw unknownTemplate()
    return row
  }

  async function findOwn(accountId: AccountId, id: string): Promise<TemplateRow> {
    const row = await find(accountId, id)
    if (row.accountId !== accountId) {
      throw new Problem('FORBIDDEN', 'The template is the platform’s: an account cannot change it.')
    }
    return row
  }

  async function list(accountId: AccountId, query: TemplateQuery): Promise<List> {
    const filter = readFilter(query, await deps.senders.forAccount(accountId))
    const before = readIdCursor('tpl', query.cursor)
    // A cursor alone is a page too.
    const limit = query.limit ?? (before === null ? null : DEFAULT_LIMIT)
    const rows = await listTemplates(db, accountId, filter, before, limit === null ? null : limit + 1)
    if (limit === null) return { data: await viewAll(accountId, rows) }
    const { data, nextCursor } = pageOf(
      rows,
      limit,
      row => row,
      row => writeCursor(row.id),
    )
    return { data: await viewAll(accountId, data), nextCursor }
  }

  async function turn(accountId: AccountId, id: string, to: 'active' | 'disabled'): Promise<TemplateView> {
    const row = await findOwn(accountId, id)
    if (row.official) {
      throw new Problem(
        'CONFLICT',
        `The provider decides on an official template; this one is ${row.status}.`,
      )
    }
    if (row.status !== to && !(await turnTemplate(db, row, to))) throw unknownTemplate()
    deps.applied(accountId)
    return view(accountId, { ...row, status: to })
  }

  /** A local one is nobody's but ours, and both modes send by it. */
  async function isLive({ accountId, official }: TemplateRow): Promise<boolean> {
    if (official === null) return false
    const line = await deps.findLine(accountId, official.connectionId)
    return line?.sandbox !== true
  }

  async function takeAway({ accountId, official, spec, language }: TemplateRow): Promise<boolean> {
    // What was bound to by hand stood there before us, and stays.
    if (!official || spec.manual) return true
    // Of a connection that is gone nothing can be taken away, nor need it be.
    if (!(await deps.findLine(accountId, official.connectionId))) return true
    return deps.approvers.remove(official.connectionId, official.providerName, language)
  }

  async function removeRow(row: TemplateRow): Promise<{ id: string; deleted: true }> {
    if (!(await takeAway(row))) {
      throw approverUnavailable('the template could not be deleted there')
    }
    if (!(await db.transaction(tx => deleteTemplate(tx, row)))) throw unknownTemplate()
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
      requireReach(caller, { live: await isLive(row) })
      return removeRow(row)
    },
    removePlatform: async id => removeRow(await findOwn(PLATFORM, id)),
    async makeDefault(accountId, id) {
      const found = await find(accountId, id)
      const row = await db.transaction(async tx => {
        // Or one that is deleted meanwhile would stand in the way of the platform's.
        const standing = await lockTemplate(tx, found)
        if (!standing) throw unknownTemplate()
        const stands = { ...found, ...standing }
        checkDefault(stands)
        await setDefaultTemplate(tx, accountId, stands)
        return stands
      })
      deps.applied(accountId)
      return view(accountId, row)
    },
    enable: (accountId, id) => turn(accountId, id, 'active'),
    disable: (accountId, id) => turn(accountId, id, 'disabled'),
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

/** A default is used in silence: it must be fit to be used, and an OTP's by the code alone. */
function checkDefault(row: TemplateRow): void {
  if (!isUsable(row.status)) {
    throw new Problem('CONFLICT', `The template is ${row.status}: neither approved nor active.`)
  }
  if (row.subType === 'otp' && !saysCodeAlone(row)) {
    const { places } = row.compiled
    throw new Problem(
      'CONFLICT',
      `A default for codes has one placeholder, for the code; this has ${places}.`,
    )
  }
}

function readFilter(query: TemplateQuery, senders: AccountSenders): TemplateFilter {
  return {
    category: query.category ?? null,
    statuses: query.status === undefined ? USABLE : [query.status],
    provider: query.provider ?? null,
    sender: readSender(query, senders),
  }
}

function readSender(query: TemplateQuery, { own }: AccountSenders): ConnectionId | 'platform' | null {
  const path = query.officialSenderId === undefined ? 'sender.officialId' : 'officialSenderId'
  const asked = query[path]
  if (asked === undefined) return null
  if (asked === PLATFORM_SENDER) return PLATFORM_SENDER
  if (isId('cnn', asked) && own.has(asked)) return asked
  throw new Problem('NOT_FOUND', 'Official sender not found', {
    details: [{ path, message: 'Official sender not found' }],
  })
}
